import Domain
import Postgres

package struct CreatedCampaign: Sendable, Encodable {
    package let campaign: Int64
    package let run: Int64
    /// false: the same campaign was created before under this idempotency key.
    package let isNew: Bool
}

package struct RunRecord: Sendable, Encodable {
    package let run: Int64
    package let campaign: Int64
    package let app: String
    package let name: String
    package let status: String
    package let dueAt: String
}

extension AdminStore {
    /// Creates a campaign with its first content version and its run, all or nothing.
    /// - Parameter body: the file as it was read.
    /// - Throws: `AdminError` when another body stands under the idempotency key, or the app is unknown.
    package func createCampaign(_ file: CampaignFile, body: String) async throws -> CreatedCampaign {
        let app = try await appID(file.app)
        let (file, template) = try await resolvingTemplate(of: file, app: app)
        guard case .all? = file.audience else {
            throw AdminError("audience: this version sends to {\"all\": true} only")
        }
        guard let message = file.messageJSON, file.variants.isEmpty else {
            throw AdminError("message: this version sends one message per campaign; variants follow")
        }
        let due: Instant?
        switch file.schedule {
        case .now: due = nil
        case .at(let instant): due = instant
        case .local, .cron: throw AdminError("schedule: this version takes {\"at\": \"now\"} or an instant")
        }
        return try await client.withTransaction { connection in
            if let known = try await known(file, app: app, body: body, on: connection) { return known }
            return try await insert(
                file, app: app, body: body, message: message, template: template, due: due,
                on: connection)
        }
    }

    /// The campaign that this key made before, if the body is the same.
    private func known(
        _ file: CampaignFile, app: App.ID, body: String, on connection: PostgresConnection
    ) async throws -> CreatedCampaign? {
        guard let key = file.idempotencyKey else { return nil }
        let rows = try await connection.query(
            """
            SELECT campaign.id, coalesce(max(run.id), 0),
                campaign.body_hash = sha256(convert_to((\(PostgresJSON(body)))::text, 'UTF8'))
            FROM pushfleet.campaign
            LEFT JOIN pushfleet.run ON run.campaign_id = campaign.id
            WHERE campaign.app_id = \(app.rawValue) AND campaign.idempotency_key = \(key)
            GROUP BY campaign.id
            """)
        guard let row = rows.first else { return nil }
        guard row.bool(2) else {
            throw AdminError(
                "idempotencyKey: '\(key)' already names campaign \(row.int64(0)) with another body; use another key")
        }
        return CreatedCampaign(campaign: row.int64(0), run: row.int64(1), isNew: false)
    }

    private func insert(
        _ file: CampaignFile, app: App.ID, body: String, message: String, template: Int64?, due: Instant?,
        on connection: PostgresConnection
    ) async throws -> CreatedCampaign {
        let campaign = try await connection.query(
            """
            INSERT INTO pushfleet.campaign (app_id, name, idempotency_key, body_hash, body)
            VALUES (
                \(app.rawValue), \(file.name), \(file.idempotencyKey),
                sha256(convert_to((\(PostgresJSON(body)))::text, 'UTF8')), \(PostgresJSON(body))
            )
            RETURNING id
            """)[0].int64(0)
        let version = try await connection.query(
            """
            INSERT INTO pushfleet.content_version (campaign_id, message, delivery, template_id)
            VALUES (
                \(campaign), \(PostgresJSON(message)), coalesce((\(PostgresJSON(body)))::jsonb -> 'delivery', '{}'),
                \(template)
            )
            RETURNING id
            """)[0].int64(0)
        let ttl = PostgresInterval(.seconds(file.delivery.ttlSeconds ?? 2_419_200))
        let dueAt = due.map { PostgresTimestamp(microseconds: $0.microseconds) }
        let run = try await connection.query(
            """
            INSERT INTO pushfleet.run (
                app_id, campaign_id, occurrence_at, weight, in_doubt, announce_window, rate, content_version, due_at,
                expand_at, ttl
            )
            SELECT \(app.rawValue), \(campaign), due.at, \(Int32(file.weight)), \(file.delivery.inDoubt.rawValue),
                CASE \(file.delivery.inDoubt.rawValue) WHEN 1 THEN 100 ELSE 5000 END, \(file.perSecond.map(Int32.init)),
                \(version), due.at, due.at, \(ttl)
            FROM (SELECT coalesce(\(dueAt), now()) AS at) due
            RETURNING id
            """)[0].int64(0)
        _ = try await connection.query(
            """
            WITH shards AS (SELECT unnest(shards) AS shard FROM pushfleet.app WHERE id = \(app.rawValue)),
            clocks AS (
                INSERT INTO pushfleet.lane_clock (shard, lane)
                SELECT shard, lane FROM shards CROSS JOIN (VALUES (0), (1)) lanes (lane)
                ON CONFLICT (shard, lane) DO NOTHING
            )
            INSERT INTO pushfleet.run_progress (shard, run_id)
            SELECT shard, \(run) FROM shards
            """)
        _ = try await connection.query("SELECT pg_notify(\(HintListener.channel), '')")
        return CreatedCampaign(campaign: campaign, run: run, isNew: true)
    }

    package func runs(app: String?, limit: Int32) async throws -> [RunRecord] {
        let rows = try await client.query(
            """
            SELECT run.id, coalesce(run.campaign_id, 0), app.name, coalesce(campaign.name, ''),
                CASE run.status WHEN 1 THEN 'running' WHEN 2 THEN 'paused' WHEN 3 THEN 'cancelled' ELSE 'done' END,
                to_char(run.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            FROM pushfleet.run
            JOIN pushfleet.app ON app.id = run.app_id
            LEFT JOIN pushfleet.campaign ON campaign.id = run.campaign_id
            WHERE NOT run.standing AND (\(app)::text IS NULL OR app.name = \(app))
            ORDER BY run.id DESC
            LIMIT \(limit)
            """)
        return rows.map {
            RunRecord(
                run: $0.int64(0), campaign: $0.int64(1), app: $0.string(2), name: $0.string(3), status: $0.string(4),
                dueAt: $0.string(5))
        }
    }
    /// A campaign's runs, oldest first; empty when there is no such campaign.
    package func runs(ofCampaign campaign: Int64) async throws -> [Run.ID] {
        try await client.query("SELECT id FROM pushfleet.run WHERE campaign_id = \(campaign) ORDER BY id")
            .map { Run.ID($0.int64(0)) }
    }
}
