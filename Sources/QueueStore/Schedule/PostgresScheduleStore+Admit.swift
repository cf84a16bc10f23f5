import Domain
import FoundationEssentials
import Postgres

extension PostgresScheduleStore {
    /// Campaigns that one call looks at.
    private static let chunk = 20

    package func admitCampaigns() async throws -> AdmittedCampaigns {
        var admitted = AdmittedCampaigns()
        var failure: (any Error)?
        for row in try await client.query(.waitingCampaigns(limit: Self.chunk)) {
            do {
                switch try await admit(row.int64(0)) {
                case true?: admitted.begun += 1
                case false?: admitted.refused += 1
                case nil: break
                }
            } catch {
                // One that the database cannot take now holds up no other.
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return admitted
    }

    /// - Returns: whether it begins; nil = another scheduler is at it.
    private func admit(_ campaign: Int64) async throws -> Bool? {
        try await client.withTransaction(deadline: .seconds(60)) { connection in
            guard let row = try await connection.query(.lockWaiting(campaign)).first else { return nil }
            let body = row.json(0)
            let problems: [Problem]
            do {
                let admin = AdminStore(client)
                let file = try CampaignFile.parse(Array(body.utf8), mode: .strict, meter: meter)
                let prepared = try await admin.prepare(file)
                _ = try await connection.query("UPDATE pushfleet.campaign SET state = 1 WHERE id = \(campaign)")
                _ = try await admin.begin(prepared, as: campaign, body: body, on: connection)
                return true
            } catch let error as ContentProblems {
                problems = error.problems
            } catch let error as AdminError {
                problems = [error.problem]
            }
            _ = try await connection.query(.refuse(campaign, try PostgresJSON(problems: problems)))
            return false
        }
    }
}

extension AdminError {
    /// As a campaign that came through SQL, or recurs, keeps it.
    var problem: Problem { Problem(pointer: "", code: "field_invalid", message: description, remedy: "") }
}

extension PostgresJSON {
    private struct Named: Encodable {
        var pointer: String
        var code: String
        var message: String
    }

    init(problems: [Problem]) throws {
        let named = problems.map { problem in
            let message = [problem.message, problem.remedy].filter { !$0.isEmpty }.joined(separator: " ")
            return Named(pointer: problem.pointer, code: problem.code, message: message)
        }
        self.init(String(decoding: try JSONEncoder().encode(named), as: UTF8.self))
    }
}

extension PostgresQuery {
    fileprivate static func waitingCampaigns(limit: Int) -> PostgresQuery {
        "SELECT id FROM pushfleet.campaign WHERE state = 0 ORDER BY id LIMIT \(Int64(limit))"
    }

    fileprivate static func lockWaiting(_ campaign: Int64) -> PostgresQuery {
        """
        SELECT campaign.body
        FROM pushfleet.campaign
        WHERE campaign.id = \(campaign) AND campaign.state = 0
        FOR UPDATE SKIP LOCKED
        """
    }

    /// Also what was written for it until a later part proved impossible.
    fileprivate static func refuse(_ campaign: Int64, _ problems: PostgresJSON) -> PostgresQuery {
        """
        WITH said AS (DELETE FROM pushfleet.content_version WHERE campaign_id = \(campaign))
        UPDATE pushfleet.campaign SET state = 2, problems = \(problems) WHERE id = \(campaign)
        """
    }
}
