import Domain
import Postgres

extension PostgresBatchStore {
    /// Reads the answers, not the outcomes: after an earlier doubt an `unregistered` ends as in_doubt, and the address is
    /// dead all the same.
    package func weigh(_ answers: [AddressAnswer], in shard: Shard) async throws {
        guard !answers.isEmpty else { return }
        _ = try await claims.query(.weigh(answers, in: shard), deadline: .seconds(5))
    }

    package func pause(run: Run.ID, reason: Reason, detail: String) async throws -> Bool {
        let rows = try await claims.query(
            """
            SELECT pushfleet.pause_run(run.id, \(reason.rawValue), \(detail))
            FROM pushfleet.run
            WHERE run.id = \(run.rawValue) AND NOT run.standing
            """, deadline: .seconds(5))
        return rows.first?.bool(0) ?? false
    }
}

extension PostgresQuery {
    /// Compares and sets, so that a repeat finds nothing to do: an address that changed since it was read stays, and of
    /// a dead one also who registered when it was called dead, or later (equal keeps).
    ///
    /// Dead ones are only quarantined: the janitor retires them once it is clear that no wave carried them. Others are
    /// what they are at once, and the last column says that nothing waits to be judged.
    static func weigh(_ answers: [AddressAnswer], in shard: Shard) -> PostgresQuery {
        """
        WITH answer AS MATERIALIZED (
            -- Of several about one address the gravest.
            SELECT DISTINCT ON (a.subscriber_id) a.subscriber_id, a.address_version, a.evidence, a.reason, a.status,
                a.gone_since, a.run_id, a.credential_id
            FROM unnest(
                \(answers.map(\.subscriber.rawValue)), \(answers.map(\.addressVersion)),
                \(answers.map(\.evidence.rawValue)), \(answers.map(\.reason.rawValue)), \(answers.map(\.status)),
                \(answers.map { $0.goneSince?.timestamp }), \(answers.map(\.run.rawValue)),
                \(answers.map(\.credential.rawValue))
            ) AS a (subscriber_id, address_version, evidence, reason, status, gone_since, run_id, credential_id)
            ORDER BY a.subscriber_id, a.evidence
        ),
        against AS MATERIALIZED (
            SELECT s.id, s.app_id, s.state AS from_state, answer.address_version, answer.evidence, answer.reason,
                answer.status, answer.gone_since, answer.run_id, answer.credential_id,
                CASE answer.evidence WHEN 1 THEN 5 WHEN 2 THEN 4 WHEN 3 THEN 2 ELSE 1 END AS to_state
            FROM answer
            JOIN pushfleet.subscriber s ON s.shard = \(shard.rawValue) AND s.id = answer.subscriber_id
            WHERE s.address_version = answer.address_version
                AND CASE answer.evidence
                    WHEN 1 THEN
                        s.state IN (1, 2) AND (answer.gone_since IS NULL OR s.registered_at < answer.gone_since)
                    WHEN 2 THEN s.state IN (1, 2)
                    WHEN 3 THEN s.state = 1
                    ELSE s.state = 2
                END
            ORDER BY s.id
            FOR UPDATE OF s
        ),
        kept AS (
            INSERT INTO pushfleet.token_change (
                shard, subscriber_id, app_id, credential_id, run_id, address_version, evidence, reason, status,
                gone_since, from_state, to_state, verdict, verdict_at
            )
            SELECT \(shard.rawValue), a.id, a.app_id, a.credential_id, a.run_id, a.address_version, a.evidence, a.reason,
                a.status, CASE a.evidence WHEN 1 THEN a.gone_since END, a.from_state, a.to_state,
                CASE a.evidence WHEN 1 THEN 0 ELSE 1 END, CASE a.evidence WHEN 1 THEN NULL ELSE now() END
            FROM against a
        )
        UPDATE pushfleet.subscriber s
        SET state = against.to_state,
            state_since = now(),
            evidence = CASE against.evidence WHEN 4 THEN NULL ELSE against.reason END
        FROM against
        WHERE s.shard = \(shard.rawValue) AND s.id = against.id
        """
    }
}
