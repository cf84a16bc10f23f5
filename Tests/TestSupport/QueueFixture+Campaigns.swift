import Domain
import Postgres
import QueueStore

extension QueueFixture {
    /// A campaign file of the app, as JSON; members are given as `"name": value`.
    package func campaign(
        key: String? = nil, title: String = "Hi", audience: String = #"{"all": true}"#,
        schedule: String = #"{"at": "now"}"#, message: String? = nil, _ more: String...
    ) -> String {
        let text = message ?? #""message": {"content": {"en": {"title": "\#(title)", "body": "x"}, "_default": "en"}}"#
        var members = [
            #""app": "ferry", "name": "Winter""#, text, #""audience": \#(audience)"#, #""schedule": \#(schedule)"#,
        ]
        if let key { members.append(#""idempotencyKey": "\#(key)""#) }
        return "{" + (members + more).joined(separator: ", ") + "}"
    }

    /// Two variants of equal weight, `a` and `b`, whose titles are their names.
    package static func variants(_ first: String = "a", _ second: String = "b") -> String {
        let each = [("a", first), ("b", second)].map { name, title in
            #"{"name": "\#(name)", "weight": 50, "message": {"content": {"en": {"title": "\#(title)", "body": "x"}, "_default": "en"}}}"#
        }
        return #""variants": [\#(each.joined(separator: ","))]"#
    }

    @discardableResult
    package func create(_ body: String) async throws -> CreatedCampaign {
        try await admin.createCampaign(try CampaignFile.parse(Array(body.utf8), mode: .strict), body: body)
    }

    /// Sends everything of a run that is ready: how many batches.
    @discardableResult
    package func drain(_ run: Run.ID, as outcome: Outcome? = .delivered) async throws -> Int {
        let worker = try await hire()
        var number: Int32 = 0
        while true {
            number += 1
            guard let batch = try await claim(run, worker, number: number) else { return Int(number) - 1 }
            let jobs = try await batches.jobs(of: batch, attributes: [])
            try await flush(batch, worker, jobs, as: outcome, answered: number)
        }
    }

    package func texts(_ query: PostgresQuery) async throws -> [String] {
        try await client.query(query).map { $0.string(0) }
    }
}
