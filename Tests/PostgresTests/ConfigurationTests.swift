import Glibc
import Postgres
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct ConfigurationTests {
    static let descriptions = [
        "postgresql://ann:secret@db.example:6432/push": "ann@db.example:6432/push",
        "postgres://ann:secret@a,b:7777/push?sslmode=require": "ann@a:5432,b:7777/push",
        "host=db.example port=6432 user=ann password=secret dbname=push": "ann@db.example:6432/push",
        "host=/run/postgresql user=ann password='sec ret' dbname=push": "ann@/run/postgresql:5432/push",
        "postgresql://ann:se@cret@db.example/push": "a connection string that cannot be read",
        "host=db.example password=secret colour=red": "a connection string that cannot be read",
        "host=db.example secret": "a connection string that cannot be read",
    ]

    @Test(arguments: descriptions) func `a description says where, and never the password`(
        connectionString: String, description: String
    ) {
        let configuration = PostgresConfiguration(connectionString)
        #expect("\(configuration)" == description)
        var dumped = ""
        dump(Optional(configuration), to: &dumped)
        #expect(!dumped.contains("secret") && !String(reflecting: configuration).contains("secret"))
    }

    static let unreachable = [
        "postgresql://ann:secret@127.0.0.1:1/push":
            "cannot connect to PostgreSQL at 127.0.0.1:1, database push: Connection refused",
        "host=/nonexistent port=5433 user=ann password=secret dbname=push":
            "cannot connect to PostgreSQL at /nonexistent:5433, database push: No such file or directory",
        "host=x.invalid user=ann password=secret dbname=push":
            "cannot connect to PostgreSQL at x.invalid:5432, database push: could not translate host name",
        "postgresql://ann:se@cret@db.example/push":
            "the PostgreSQL connection string cannot be read: a @ in the password must be written as %40",
        "host=db.example password=secret colour=red":
            #"the PostgreSQL connection string cannot be read: invalid connection option "colour""#,
        "host=db.example secret": "the PostgreSQL connection string cannot be read: expected postgresql://",
    ]

    @Test(arguments: unreachable) func `what cannot be connected to is one clear line`(
        connectionString: String, line: String
    ) async throws {
        let connection = PostgresConnection(PostgresConfiguration(connectionString), logger: TestServer.logger)
        let error = try #require(await errorOf { try await connection.connect() })
        #expect("\(error)".hasPrefix(line))
        #expect(!"\(error)".contains("secret") && !"\(error)".contains("\n") && !error.mayHaveTakenEffect)
    }

    @Test func `a refusal by the server says why`() async throws {
        let url = try TestServer.url(adding: ["dbname": "no_such_database"])
        let connection = PostgresConnection(PostgresConfiguration(url), logger: TestServer.logger)
        let error = try #require(await errorOf { try await connection.connect() })
        #expect(error.code == .undefinedObject && error.sqlState == "3D000" && !error.isTransient)
        #expect(error.message.hasSuffix(#"database no_such_database: database "no_such_database" does not exist"#))
    }

    @Test func `the first of several hosts that answers is used`() async throws {
        try await TestServer.withRelay { relay in
            let url = try TestServer.url(adding: ["host": "127.0.0.1,127.0.0.1", "port": "1,\(relay.port)"])
            let connection = PostgresConnection(PostgresConfiguration(url), logger: TestServer.logger)
            try await connection.connect()
            let rows = try await connection.query("SELECT 1")
            #expect(rows.count == 1)
            await connection.close()
        }
    }

    @Test func `a silent host is given up after its connect_timeout, and the next one is used`() async throws {
        try await TestServer.withRelay { silent in
            silent.fallSilent()
            try await TestServer.withRelay { relay in
                let url = try TestServer.url(adding: [
                    "host": "127.0.0.1,127.0.0.1", "port": "\(silent.port),\(relay.port)", "connect_timeout": "2",
                ])
                let connection = PostgresConnection(PostgresConfiguration(url), logger: TestServer.logger)
                let start = ContinuousClock.now
                try await connection.connect(deadline: .seconds(30))
                #expect((.seconds(2)...(.seconds(6))).contains(ContinuousClock.now - start))
                // The one that answered is asked first the next time.
                try await connection.connect(deadline: .seconds(30))
                #expect(silent.accepted == 1 && relay.accepted == 2)
                await connection.close()
            }
        }
    }

    @Test func `TCP notices by itself that the server is gone`() async throws {
        try await TestServer.withRelayedClient { client, relay in
            _ = try await client.query("SELECT 1")
            let socket = try #require((0..<1024).first { peerPort(of: $0) == relay.port })
            #expect(option(SO_KEEPALIVE, at: SOL_SOCKET, of: socket) != 0)
            #expect(option(TCP_KEEPIDLE, of: socket) == 5 && option(TCP_KEEPINTVL, of: socket) == 2)
            #expect(option(TCP_KEEPCNT, of: socket) == 3 && option(TCP_USER_TIMEOUT, of: socket) == 10_000)
        }
    }

    private func peerPort(of socket: Int32) -> UInt16? {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &size) }
        }
        return code == 0 && address.sin_family == sa_family_t(AF_INET) ? UInt16(bigEndian: address.sin_port) : nil
    }

    private func option(_ name: Int32, at level: Int32 = Int32(IPPROTO_TCP), of socket: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(socket, level, name, &value, &size) == 0 ? value : nil
    }

    @Test func `the session says who it is, and has no settings of ours`() async throws {
        try await TestServer.withConnection { connection in
            let rows = try await connection.query(
                """
                SELECT name, setting FROM pg_settings WHERE source = 'client' AND name <> 'application_name'
                UNION ALL SELECT 'application_name', current_setting('application_name')
                ORDER BY name
                """)
            let settings = Dictionary(uniqueKeysWithValues: rows.map { ($0.string(0), $0.string(1)) })
            #expect(settings == ["application_name": "pushfleet-tests", "client_encoding": "UTF8"])
        }
    }
}
