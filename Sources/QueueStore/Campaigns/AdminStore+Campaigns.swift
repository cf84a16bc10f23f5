import Domain
import Postgres

package struct CreatedCampaign: Sendable, Encodable {
    package let campaign: Int64
    /// 0 while a recurring campaign has none.
    package let run: Int64
    /// false: the same campaign was created before under this idempotency key.
    package let isNew: Bool
    /// A recurring campaign's next occurrence; nil = none will be, or it recurs not.
    package var nextAt: String?
}

package struct RunRecord: Sendable, Encodable {
    package let run: Int64
    package let campaign: Int64
    package let app: String
    package let name: String
    package let status: String
    package let dueAt: String
    /// Sent to named subscribers for a look.
    package let isTest: Bool
}

extension AdminStore {
    /// Creates a campaign with its first content version and its run, or the instant of its first occurrence, all or
    /// nothing. The run keeps what was planned for it.
    /// - Parameters:
    ///   - body: the file as it was read.
    ///   - dryRun: do the same, and take it back: what is returned is what would be.
    /// - Throws: `AdminError` when another body stands under the idempotency key, or a name is unknown; `ContentProblems`,
    ///   also when it is over already.
    package func createCampaign(
        _ file: CampaignFile, body: String, dryRun: Bool = false
    ) async throws -> CreatedCampaign {
        let prepared = try await prepare(file)
        do {
            return try await client.withTransaction { connection in
                let created = try await create(prepared, body: body, on: connection)
                if dryRun { throw DryRun(created: created) }
                return created
            }
        } catch let dry as DryRun { return dry.created }
    }

    /// Rolls back what is only tried.
    private struct DryRun: Error { let created: CreatedCampaign }

    private func create(
        _ prepared: PreparedCampaign, body: String, on connection: PostgresConnection
    ) async throws -> CreatedCampaign {
        let (file, app) = (prepared.file, prepared.app)
        // Asked for again it is still that campaign, however long it is over.
        if let known = try await known(file, app: app, body: body, on: connection) { return known }
        if prepared.isOver { throw ContentProblems([Self.overProblem]) }
        let campaign = try await insertCampaign(file, app: app, body: body, on: connection)
        return try await begin(prepared, as: campaign, body: body, on: connection)
    }

    /// A campaign with everything that its names stand for.
    struct PreparedCampaign {
        var app: App.ID
        var file: CampaignFile
        var template: Int64?
        var audience: Audience
        var plan: PostgresJSON
        /// Nothing of it would be sent any more.
        var isOver: Bool
    }

    /// - Throws: `AdminError` or `ContentProblems` when a name is unknown.
    func prepare(_ file: CampaignFile) async throws -> PreparedCampaign {
        let app = try await appID(file.app)
        let (file, template) = try await resolvingTemplate(of: file, app: app)
        let audience = try await writtenOut(file.audience ?? .all, app: app)
        try await checkZone(of: file.schedule)
        let (plan, isOver) = try await reckon(file, audience: audience, app: app, exact: false)
        return PreparedCampaign(
            app: app, file: file, template: template, audience: audience, plan: try record(plan), isOver: isOver)
    }

    /// Gives a campaign that has a row its first content version, and its run or the instant of its first occurrence.
    func begin(
        _ prepared: PreparedCampaign, as campaign: Int64, body: String, on connection: PostgresConnection
    ) async throws -> CreatedCampaign {
        let file = prepared.file
        let content = try await ContentRevision.insert(
            file, campaign: campaign, number: 1, body: body, template: prepared.template, on: connection)
        if case .cron(let cron, let zone, let policies) = file.schedule {
            let next = try await connection.firstOccurrence(of: cron, zone: zone, policies)
            return try await setNext(next, of: campaign, on: connection)
        }
        let terms = RunTerms(
            app: prepared.app, campaign: campaign, file: file, audience: prepared.audience, content: content,
            plan: prepared.plan)
        let times = try await terms.times(on: connection)
        let run = try await terms.insert(occurrenceAt: times.dueAt, times: times, on: connection)
        return CreatedCampaign(campaign: campaign, run: run?.rawValue ?? 0, isNew: true)
    }

    /// The campaign that this key made before, if the body is the same. Creations under one key wait for each other.
    private func known(
        _ file: CampaignFile, app: App.ID, body: String, on connection: PostgresConnection
    ) async throws -> CreatedCampaign? {
        guard let key = file.idempotencyKey else { return nil }
        _ = try await connection.query(
            "SELECT pg_advisory_xact_lock(hashtextextended(\(key), \(app.rawValue)))::text")
        let rows = try await connection.query(
            """
            SELECT campaign.id, coalesce(max(run.id), 0), campaign.body_hash = given.hash, campaign.name,
                left(encode(campaign.body_hash, 'hex'), 12), left(encode(given.hash, 'hex'), 12),
                to_char(campaign.next_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            FROM pushfleet.campaign
            CROSS JOIN (SELECT sha256(convert_to((\(PostgresJSON(body)))::text, 'UTF8')) AS hash) given
            LEFT JOIN pushfleet.run ON run.campaign_id = campaign.id
            WHERE campaign.app_id = \(app.rawValue) AND campaign.idempotency_key = \(key)
            GROUP BY campaign.id, given.hash
            """)
        guard let row = rows.first else { return nil }
        guard row.bool(2) else {
            throw AdminError(
                "idempotencyKey: '\(key)' already names campaign \(row.int64(0)) '\(row.string(3))' (body "
                    + "\(row.string(4))); this file '\(file.name)' (body \(row.string(5))) is another: use another key, "
                    + "or: pushfleet campaign edit \(row.int64(0)) FILE")
        }
        return CreatedCampaign(
            campaign: row.int64(0), run: row.int64(1), isNew: false, nextAt: row.stringOrNil(6))
    }

    func insertCampaign(
        _ file: CampaignFile, app: App.ID, body: String, on connection: PostgresConnection
    ) async throws -> Int64 {
        try await connection.query(
            """
            INSERT INTO pushfleet.campaign (app_id, name, idempotency_key, body_hash, body)
            VALUES (
                \(app.rawValue), \(file.name), \(file.idempotencyKey),
                sha256(convert_to((\(PostgresJSON(body)))::text, 'UTF8')), \(PostgresJSON(body))
            )
            RETURNING id
            """)[0].int64(0)
    }

    private func setNext(
        _ next: Instant?, of campaign: Int64, on connection: PostgresConnection
    ) async throws -> CreatedCampaign {
        guard let next else { throw AdminError.noOccurrence }
        let row = try await connection.query(
            """
            UPDATE pushfleet.campaign
            SET next_at = \(next.timestamp)
            WHERE id = \(campaign)
            RETURNING to_char(next_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            """)[0]
        return CreatedCampaign(campaign: campaign, run: 0, isNew: true, nextAt: row.string(0))
    }

    /// A name that PostgreSQL does not know would stop the campaign when it is due.
    /// - Throws: `ContentProblems`.
    package func checkZone(of schedule: Schedule) async throws {
        guard case .cron(_, let zone, _) = schedule else { return }
        let known = try await client.query("SELECT 1 FROM pushfleet.time_zone WHERE key = lower(\(zone))")
        if known.isEmpty {
            throw ContentProblems([
                Problem(
                    pointer: "/schedule/zone", code: ProblemCode.scheduleInvalid.rawValue,
                    message: "'\(zone)' is no IANA zone.", remedy: "Use one such as Europe/Lisbon.")
            ])
        }
    }

    /// - Parameter tests: with test sends.
    package func runs(app: String?, limit: Int32, tests: Bool = false) async throws -> [RunRecord] {
        if let app { _ = try await appID(app) }
        let rows = try await client.query(
            """
            SELECT run.id, coalesce(run.campaign_id, 0), app.name, coalesce(campaign.name, ''),
                CASE run.status WHEN 1 THEN 'running' WHEN 2 THEN 'paused' WHEN 3 THEN 'cancelled' ELSE 'done' END,
                to_char(run.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), run.is_test
            FROM pushfleet.run
            JOIN pushfleet.app ON app.id = run.app_id
            LEFT JOIN pushfleet.campaign ON campaign.id = run.campaign_id
            WHERE NOT run.standing
                AND (\(app)::text IS NULL OR app.name = \(app))
                AND (\(tests) OR NOT run.is_test)
            ORDER BY run.id DESC
            LIMIT \(limit)
            """)
        return rows.map {
            RunRecord(
                run: $0.int64(0), campaign: $0.int64(1), app: $0.string(2), name: $0.string(3), status: $0.string(4),
                dueAt: $0.string(5), isTest: $0.bool(6))
        }
    }

    /// Whether a campaign goes on, and why it was refused.
    /// - Returns: nil when there is no such campaign.
    package func state(ofCampaign campaign: Int64) async throws -> CampaignState? {
        let rows = try await client.query(
            """
            SELECT c.state, coalesce(array_agg(p.problem ->> 'pointer') FILTER (WHERE p.problem IS NOT NULL), '{}'),
                coalesce(array_agg(p.problem ->> 'code') FILTER (WHERE p.problem IS NOT NULL), '{}'),
                coalesce(array_agg(p.problem ->> 'message') FILTER (WHERE p.problem IS NOT NULL), '{}')
            FROM pushfleet_report.campaigns c
            LEFT JOIN LATERAL jsonb_array_elements(c.problems) AS p (problem) ON true
            WHERE c.campaign_id = \(campaign)
            GROUP BY c.state
            """)
        return rows.first.map { row in
            let (pointers, codes, messages) = (row.textArray(1), row.textArray(2), row.textArray(3))
            return CampaignState(
                state: row.string(0),
                problems: pointers.indices.map { index in
                    CampaignState.Problem(
                        pointer: pointers[index] ?? "", code: codes[index] ?? "", message: messages[index] ?? "")
                })
        }
    }

    /// A campaign's runs, oldest first; empty when there is no such campaign.
    package func runs(ofCampaign campaign: Int64) async throws -> [Run.ID] {
        try await client.query("SELECT id FROM pushfleet.run WHERE campaign_id = \(campaign) ORDER BY id")
            .map { Run.ID($0.int64(0)) }
    }
}

extension AdminError {
    static let noOccurrence = AdminError(
        "schedule: no occurrence lies between now and its end; correct start, end or cron")
}

package struct CampaignState: Sendable {
    package struct Problem: Sendable, Encodable {
        package let pointer, code, message: String
    }

    /// waiting (to be checked), active, refused or over.
    package let state: String
    package let problems: [Problem]
}
