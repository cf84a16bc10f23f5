import Postgres
import Testing

@Suite(.timeLimit(.minutes(1))) struct ValueTests {
    @Test(arguments: [true, false]) func `a statement gives its rows, prepared or not`(prepared: Bool) async throws {
        try await TestServer.withClient(preparedStatements: prepared) { client in
            for number in [Int64(1), 2, 3] {
                let rows = try await client.query(
                    "SELECT n, \("x") || n::text FROM generate_series(1, \(number)) AS n")
                #expect(rows.map { $0.string(1) } == (1...number).map { "x\($0)" })
            }
        }
    }
}
