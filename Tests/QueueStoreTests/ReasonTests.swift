import Domain
import Postgres
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct ReasonTests {
    @Test func `the database names exactly the reasons that the code gives`() async throws {
        try await TemporaryDatabase.run { database in
            try await database.withClient { client in
                let rows = try await client.query("SELECT code, name FROM pushfleet.reason")
                let stored = Dictionary(uniqueKeysWithValues: rows.map { ($0.int16(0), $0.string(1)) })
                #expect(stored == Dictionary(uniqueKeysWithValues: Reason.allCases.map { ($0.rawValue, $0.name) }))
            }
        }
    }
}
