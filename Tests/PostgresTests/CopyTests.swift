import Postgres
import Testing

@Suite(.timeLimit(.minutes(1))) struct CopyTests {
    private struct Refusal: Error {}

    private func withTable(_ body: (PostgresConnection) async throws -> Void) async throws {
        try await TestServer.withConnection { connection in
            _ = try await connection.query("CREATE TEMPORARY TABLE t (id bigint, name text)")
            try await body(connection)
        }
    }

    private func count(_ connection: PostgresConnection) async throws -> Int64 {
        try await connection.query("SELECT count(*) FROM t")[0].int64(0)
    }

    @Test func `chunks may be cut anywhere, and all rows arrive`() async throws {
        try await withTable { connection in
            let text = (0..<20_000).map { "\($0)\tname \($0)\n" }.joined().utf8.map { $0 }
            let chunks = stride(from: 0, to: text.count, by: 999).map { Array(text[$0..<min($0 + 999, text.count)]) }
            #expect(try await connection.copyIn("COPY t FROM STDIN", chunks: chunks) == 20_000)
            let wrong = try await connection.query("SELECT count(*) FROM t WHERE name <> 'name ' || id")
            #expect(wrong[0].int64(0) == 0)
            #expect(try await count(connection) == 20_000)
        }
    }

    @Test func `no chunk is asked for before the last one went out`() async throws {
        try await withTable { connection in
            let row = Array("1\t\(String(repeating: "x", count: 65_000))\n".utf8)
            let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .unbounded)
            // 20 MB: far more than the kernel takes at once.
            for _ in 0..<300 { continuation.yield(row) }
            continuation.finish()
            let copied = try await connection.copyIn("COPY t FROM STDIN", chunks: stream)
            #expect(copied == 300)
            let rows = try await count(connection)
            #expect(rows == 300)
        }
    }

    @Test func `no data is no row`() async throws {
        try await withTable { connection in
            let copied = try await connection.copyIn("COPY t FROM STDIN", chunks: [[UInt8]]())
            #expect(copied == 0)
        }
    }

    @Test func `a row that the server refuses leaves none, and the connection works`() async throws {
        try await withTable { connection in
            let chunks = [Array("1\ta\n".utf8), Array("secret\tb\n".utf8), Array("3\tc\n".utf8)]
            let error = await errorOf {
                try await connection.copyIn("COPY t FROM STDIN", chunks: chunks)
            }
            #expect(error?.code == .invalidValue && error?.message == #"invalid input syntax for type bigint: "…""#)
            let rows = try await count(connection)
            #expect(rows == 0)
        }
    }

    @Test func `a source that fails leaves no row, its error, and a connection that works`() async throws {
        try await withTable { connection in
            let source = AsyncThrowingStream<[UInt8], any Error> { continuation in
                continuation.yield(Array("1\ta\n".utf8))
                continuation.finish(throwing: Refusal())
            }
            await #expect(throws: Refusal.self) { try await connection.copyIn("COPY t FROM STDIN", chunks: source) }
            #expect(connection.isConnected)
            let rows = try await count(connection)
            #expect(rows == 0)
        }
    }

    @Test func `a statement that cannot begin is its own error`() async throws {
        try await withTable { connection in
            let missing = await errorOf {
                try await connection.copyIn("COPY missing FROM STDIN", chunks: [[UInt8]]())
            }
            #expect(missing?.code == .undefinedObject)
            let rows = try await count(connection)
            #expect(rows == 0)
            let query = await errorOf {
                try await connection.copyIn("SELECT 1", chunks: [[UInt8]]())
            }
            #expect(query?.code == .malformedResult)
        }
    }

    @Test func `a deadline ends a copy and its connection`() async throws {
        try await withTable { connection in
            let endless = AsyncStream<[UInt8]> { Array("1\ta\n".utf8) }
            let error = await errorOf {
                try await connection.copyIn("COPY t FROM STDIN", chunks: endless, deadline: .milliseconds(50))
            }
            #expect(error?.code == .deadlineExceeded && !connection.isConnected)
            try await connection.connect()
            let rows = try await connection.query("SELECT 1")
            #expect(rows.count == 1)
        }
    }

    @Test func `rows come out in whole lines`() async throws {
        try await TestServer.withConnection { connection in
            var text: [UInt8] = []
            var chunks = 0
            let rows = try await connection.copyOut("COPY (SELECT generate_series(1, 50000)) TO STDOUT") { chunk in
                #expect(chunk.last == UInt8(ascii: "\n"))
                text += chunk
                chunks += 1
            }
            #expect(rows == 50_000 && chunks > 1)
            #expect(text == (1...50_000).map { "\($0)\n" }.joined().utf8.map { $0 })
            await #expect(throws: Refusal.self) {
                try await connection.copyOut("COPY (SELECT generate_series(1, 50000)) TO STDOUT") { _ in
                    throw Refusal()
                }
            }
            #expect(!connection.isConnected)
        }
    }
}
