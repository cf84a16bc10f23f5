import Domain
import FoundationEssentials
import Postgres

package struct CreatedCampaign: Codable, Sendable, Equatable {
    package let campaign: Int64
    package let run: Int64
    /// False: the same key and body had made it before.
    package let isNew: Bool
}

package struct RunSummary: Codable, Sendable, Equatable {
    package let run: Int64
    package let campaign: Int64
    package let app: String
    package let name: String
    package let status: String
    /// RFC 3339, UTC.
    package let dueAt: String
}

extension AdminStore {
    /// Creates a campaign with its content, its run and the run's progress, in one transaction.
    /// - Parameter body: the file as JSON. The same idempotency key and body give the campaign that is there.
    /// - Throws: `AdminError`: `unknownApp`, `keyTaken`, `unsupported`.
    package func createCampaign(_ campaign: CampaignFile, body: String) async throws -> CreatedCampaign {
        let run = try NewRun(campaign)
        return try await client.withTransaction { connection in
            guard let app = try await connection.query(.appID(named: campaign.app)).first?.int64(0) else {
                throw AdminError.unknownApp(campaign.app)
            }
            guard
                let id = try await connection.query(.insertCampaign(campaign, app: app, body: body)).first?.int64(0)
            else { return try await known(campaign, app: app, body: body, connection) }
            let content = try await connection.query(
                .insertContent(campaign: id, message: run.message, delivery: run.delivery))[0].int64(0)
            let runID = try await connection.query(.insert(run, app: app, campaign: id, content: content))[0].int64(0)
            _ = try await connection.query(.insertProgress(run: runID))
            _ = try await connection.query(.insertLaneClocks(app: campaign.app))
            _ = try await connection.query(.hint)
            return CreatedCampaign(campaign: id, run: runID, isNew: true)
        }
    }

    private func known(
        _ campaign: CampaignFile, app: Int64, body: String, _ connection: PostgresConnection
    ) async throws -> CreatedCampaign {
        let row = try await connection.query(.campaign(key: campaign.idempotencyKey, app: app, body: body))[0]
        guard row.bool(2) else {
            throw AdminError(
                .keyTaken, "idempotencyKey: another campaign, \(row.int64(0)), has this key and says something else",
                remedy: "choose another key, or send the same file")
        }
        return CreatedCampaign(campaign: row.int64(0), run: row.int64(1), isNew: false)
    }

    /// Runs, newest first.
    /// - Parameter app: nil = of all apps.
    package func runs(app: String?, limit: Int32) async throws -> [RunSummary] {
        try await client.query(.runs(app: app, limit: limit)).map { row in
            RunSummary(
                run: row.int64(0), campaign: row.int64(1), app: row.string(2), name: row.string(3),
                status: RunStatus(rawValue: row.int16(4)).map { "\($0)" } ?? "unknown", dueAt: row.string(5))
        }
    }
}

/// What of a campaign file becomes the run's row.
struct NewRun {
    var message: String
    var delivery: String
    var policy: InDoubtPolicy
    var ttl: Duration
    var weight: Int32
    var rate: Int32?
    /// nil = now.
    var dueAt: Instant?

    /// So long a message lives in the queue at least: one that the provider may not keep still has to get there.
    static let shortestLife = Duration.seconds(30)

    init(_ campaign: CampaignFile) throws {
        guard case .inline? = campaign.message, let message = campaign.messageJSON, campaign.variants.isEmpty else {
            throw Self.unsupported("message: templates and variants")
        }
        guard campaign.audience == .all else { throw Self.unsupported("audience: anything but {\"all\": true}") }
        switch campaign.schedule {
        case .now: dueAt = nil
        case .at(let instant): dueAt = instant
        case .local, .cron: throw Self.unsupported("schedule: local and cron")
        }
        guard campaign.holdout == 0, campaign.perUser == .all else {
            throw Self.unsupported("holdout and perUser: newest")
        }
        self.message = message
        delivery = String(decoding: try JSONEncoder().encode(StoredDelivery(campaign.delivery)), as: UTF8.self)
        policy = campaign.delivery.inDoubt
        ttl = campaign.delivery.ttlSeconds.map { max(.seconds($0), Self.shortestLife) } ?? .seconds(28 * 86_400)
        weight = Int32(campaign.weight)
        rate = campaign.perSecond.map { Int32(clamping: $0) }
    }

    private static func unsupported(_ what: String) -> AdminError {
        AdminError(.unsupported, "\(what) cannot be carried out by this version", remedy: "remove it from the file")
    }
}

extension PostgresQuery {
    static func appID(named name: String) -> PostgresQuery { "SELECT id FROM pushfleet.app WHERE name = \(name)" }

    /// No row: the key is taken. Who comes second waits here for the first one's commit.
    static func insertCampaign(_ campaign: CampaignFile, app: Int64, body: String) -> PostgresQuery {
        """
        INSERT INTO pushfleet.campaign (app_id, name, idempotency_key, body_hash, body)
        VALUES (
            \(app), \(campaign.name), \(campaign.idempotencyKey),
            sha256(convert_to(\(PostgresJSON(body))::text, 'UTF8')), \(PostgresJSON(body))
        )
        ON CONFLICT (app_id, idempotency_key) DO NOTHING
        RETURNING id
        """
    }

    static func campaign(key: String?, app: Int64, body: String) -> PostgresQuery {
        """
        SELECT campaign.id, run.id,
            campaign.body_hash = sha256(convert_to(\(PostgresJSON(body))::text, 'UTF8'))
        FROM pushfleet.campaign
        JOIN pushfleet.run ON run.campaign_id = campaign.id
        WHERE campaign.app_id = \(app) AND campaign.idempotency_key = \(key)
        ORDER BY run.id
        LIMIT 1
        """
    }

    static func insertContent(campaign: Int64, message: String, delivery: String) -> PostgresQuery {
        """
        INSERT INTO pushfleet.content_version (campaign_id, message, delivery)
        VALUES (\(campaign), \(PostgresJSON(message)), \(PostgresJSON(delivery)))
        RETURNING id
        """
    }

    /// Batches of a throttled run hold a second's worth at most; under assume_sent few are announced at a time, as those
    /// are given up when their worker dies.
    static func insert(_ run: NewRun, app: Int64, campaign: Int64, content: Int64) -> PostgresQuery {
        """
        INSERT INTO pushfleet.run (
            app_id, campaign_id, occurrence_at, weight, in_doubt, batch_size, announce_window, rate, content_version,
            due_at, expand_at, ttl
        )
        SELECT \(app), \(campaign), due.at, \(run.weight), \(run.policy.rawValue),
            least(500, coalesce(\(run.rate), 500)),
            CASE WHEN \(run.policy.rawValue) = 1 THEN 100 ELSE 5000 END,
            \(run.rate), \(content), due.at, due.at, \(PostgresInterval(run.ttl))
        FROM (SELECT coalesce(\(run.dueAt?.timestamp), now()) AS at) due
        RETURNING id
        """
    }

    static func insertProgress(run: Int64) -> PostgresQuery {
        """
        INSERT INTO pushfleet.run_progress (shard, run_id)
        SELECT unnest(app.shards), run.id
        FROM pushfleet.run
        JOIN pushfleet.app ON app.id = run.app_id
        WHERE run.id = \(run)
        """
    }

    static let hint: PostgresQuery = "SELECT pg_notify('pushfleet', 'run')::text"

    static func runs(app: String?, limit: Int32) -> PostgresQuery {
        """
        SELECT run.id, coalesce(run.campaign_id, 0), app.name, coalesce(campaign.name, ''), run.status,
            to_char(run.due_at AT TIME ZONE 'UTC', \(InstantText.format))
        FROM pushfleet.run
        JOIN pushfleet.app ON app.id = run.app_id
        LEFT JOIN pushfleet.campaign ON campaign.id = run.campaign_id
        WHERE \(app) IS NULL OR app.name = \(app)
        ORDER BY run.id DESC
        LIMIT \(limit)
        """
    }
}
