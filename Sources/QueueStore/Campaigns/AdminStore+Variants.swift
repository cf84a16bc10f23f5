import Domain
import Postgres

/// How one variant of a test did.
package struct VariantResult: Sendable, Encodable {
    package let name: String
    /// Held out ones have no share.
    package let targeted: Int64
    package let delivered: Int64
    /// Of those that were meant to be sent to, with its 95 % interval; nil for the held out.
    package let deliveredShare: ProportionInterval?
}

/// How many got which revision of what a campaign says.
package struct RevisionResult: Sendable, Encodable {
    package let revision: Int32
    package let variant: String?
    package let outcome: String
    package let jobs: Int64
}

extension AdminStore {
    /// From the batches' tallies; the held out last. Empty where nothing was tested.
    package func variants(of run: Run.ID) async throws -> [VariantResult] {
        let rows = try await client.query(
            """
            WITH tally AS MATERIALIZED (
                SELECT b.variant,
                    sum(b.size) FILTER (WHERE b.origin = 0) AS targeted,
                    sum(b.size) FILTER (WHERE b.origin = 0) - coalesce(sum(b.skipped) FILTER (WHERE b.route_id = 0), 0)
                        AS meant,
                    sum(b.delivered) AS delivered
                FROM pushfleet.run_progress p
                JOIN pushfleet.batch b ON b.shard = p.shard AND b.run_id = p.run_id
                WHERE p.run_id = \(run.rawValue) AND b.variant IS NOT NULL
                GROUP BY b.variant
            )
            SELECT coalesce(said.variant_name, tally.variant::text), coalesce(tally.targeted, 0)::bigint,
                coalesce(tally.meant, 0)::bigint, coalesce(tally.delivered, 0)::bigint
            FROM tally
            JOIN pushfleet.run ON run.id = \(run.rawValue)
            LEFT JOIN pushfleet.content_version said ON said.id = run.variant_versions[tally.variant]
            ORDER BY tally.variant
            """, deadline: .seconds(60))
        let variants = rows.map { row in
            VariantResult(
                name: row.string(0), targeted: row.int64(1), delivered: row.int64(3),
                deliveredShare: ProportionInterval(successes: row.int64(3), of: row.int64(2)))
        }
        let heldOut = try await client.query(
            """
            SELECT count(*)
            FROM pushfleet.run
            JOIN pushfleet.delivery d
                ON d.run_id = run.id
                AND d.outcome = 6
                AND d.reason = \(Reason.holdout.rawValue)
                AND d.at >= run.created_at
            WHERE run.id = \(run.rawValue) AND run.variant_bounds[1] > 0
            """, deadline: .seconds(60))[0].int64(0)
        guard heldOut > 0 else { return variants }
        return variants + [VariantResult(name: "(holdout)", targeted: heldOut, delivered: 0, deliveredShare: nil)]
    }

    /// What was said to how many, by revision; one row where nothing was edited.
    package func revisions(of run: Run.ID) async throws -> [RevisionResult] {
        try await client.query(
            """
            SELECT said.revision, said.variant_name, d.outcome, count(*)
            FROM pushfleet.delivery d
            JOIN pushfleet.content_version said ON said.id = d.content_version
            WHERE d.run_id = \(run.rawValue)
            GROUP BY said.revision, said.variant_name, d.outcome
            ORDER BY said.revision, said.variant_name, d.outcome
            """, deadline: .seconds(300)
        ).map {
            RevisionResult(
                revision: $0.int32(0), variant: $0.stringOrNil(1),
                outcome: Outcome(rawValue: $0.int16(2))?.name ?? "unknown", jobs: $0.int64(3))
        }
    }
}
