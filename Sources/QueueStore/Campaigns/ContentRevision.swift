import Domain
import Postgres

/// What a campaign says, after so many edits: one message, or one for each variant.
struct ContentRevision {
    var number: Int32
    /// The message; the first variant's where there are several.
    var version: Int64
    /// By the variants' places; nil = no test.
    var variants: [Int64]?

    /// Writes a revision of a campaign.
    /// - Parameters:
    ///   - file: with its templates' messages in their place.
    ///   - body: the file, whose `delivery` is kept with each message as it was written.
    ///   - template: where the one message was taken from.
    static func insert(
        _ file: CampaignFile, campaign: Int64, number: Int32, body: String, template: Int64? = nil,
        on connection: PostgresConnection
    ) async throws -> ContentRevision {
        var messages: [(name: String?, message: String)] = file.variants.map { ($0.name, $0.messageJSON) }
        if messages.isEmpty { messages = [(nil, file.messageJSON ?? "{}")] }
        var made: [Int64] = []
        for (index, each) in messages.enumerated() {
            let place = each.name == nil ? nil : Int16(index + 1)
            made.append(
                try await connection.query(
                    """
                    INSERT INTO pushfleet.content_version (
                        campaign_id, message, delivery, revision, variant, variant_name, template_id
                    )
                    VALUES (
                        \(campaign), \(PostgresJSON(each.message)),
                        coalesce((\(PostgresJSON(body)))::jsonb -> 'delivery', '{}'), \(number), \(place), \(each.name),
                        \(file.variants.isEmpty ? template : nil)
                    )
                    RETURNING id
                    """)[0].int64(0))
        }
        if let bypass = file.disturbance.bypass {
            try await record(bypass, of: campaign, number: number, versions: made, on: connection)
        }
        return ContentRevision(number: number, version: made[0], variants: file.variants.isEmpty ? nil : made)
    }

    /// Keeps who asked to go past which rules, and why: the campaign's maker, or whoever edits it.
    private static func record(
        _ bypass: Bypass, of campaign: Int64, number: Int32, versions: [Int64], on connection: PostgresConnection
    ) async throws {
        let rules = bypass.rules.reduce(Int16(0)) { $0 | $1.bit }
        _ = try await connection.query(
            """
            INSERT INTO pushfleet.bypass (app_id, campaign_id, content_version, rules, reason, caller)
            SELECT campaign.app_id, campaign.id, made.version, \(rules), \(bypass.reason),
                CASE WHEN \(number) = 1 THEN coalesce(campaign.caller, session_user) ELSE session_user END
            FROM pushfleet.campaign
            CROSS JOIN unnest(\(versions)) AS made (version)
            WHERE campaign.id = \(campaign)
            """)
    }

    /// The newest revision of a campaign.
    static func latest(of campaign: Int64, on connection: PostgresConnection) async throws -> ContentRevision {
        let rows = try await connection.query(
            """
            SELECT said.id, said.revision, said.variant IS NOT NULL
            FROM pushfleet.content_version said
            WHERE said.campaign_id = \(campaign)
                AND said.revision = (
                    SELECT max(newest.revision)
                    FROM pushfleet.content_version newest
                    WHERE newest.campaign_id = \(campaign)
                )
            ORDER BY said.variant
            """)
        guard let first = rows.first else { throw AdminError("campaign: \(campaign) says nothing") }
        return ContentRevision(
            number: first.int32(1), version: first.int64(0), variants: first.bool(2) ? rows.map { $0.int64(0) } : nil)
    }
}

extension Bypass.Rule {
    /// As `run.exempt` and `bypass.rules` say it.
    var bit: Int16 {
        switch self {
        case .frequencyCap: 1
        case .quietHours: 2
        }
    }
}
