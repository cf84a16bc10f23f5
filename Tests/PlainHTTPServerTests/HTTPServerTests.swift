import Logging
import PlainHTTP
import PlainHTTPServer
import ServiceLifecycle
import Testing
import Threading

@Suite struct HTTPServerTests {
    private static let logger = Logger(label: "tests") { TextLogHandler(label: $0, logLevel: .critical) }

    /// Runs a server, lends its URL and a client, and shuts it down.
    private static func serve(
        bodyLimit: Int = 65_536, deadline: Duration = .seconds(10), patience: Duration = .seconds(30),
        concurrency: Int = 64, answering handler: @escaping HTTPServer.Handler,
        _ body: @Sendable @escaping (String, HTTPClient) async throws -> Void
    ) async throws {
        var configuration = HTTPServer.Configuration(port: 0)
        configuration.bodyLimit = bodyLimit
        configuration.deadline = deadline
        configuration.patience = patience
        configuration.concurrency = concurrency
        let server = try HTTPServer(configuration, logger: logger, handler: handler)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                var plain = HTTPClient.Configuration()
                plain.allowsPlainText = true
                try await body("http://127.0.0.1:\(server.port)", HTTPClient(configuration: plain))
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
    }

    @Test func `A request reaches the handler whole and gets its answer`() async throws {
        try await Self.serve { request in
            HTTPServerResponse(
                status: 201, headers: [("x-path", request.path), ("x-method", request.method)],
                body: request.body.reversed() + Array((request.headers["x-one"] ?? "").utf8))
        } _: { url, client in
            var request = HTTPClientRequest(url: url + "/a/b?c=d")
            request.method = .POST
            request.headers.add(name: "X-One", value: "1")
            request.body = [1, 2, 3]
            let response = try await client.execute(request, timeout: .seconds(5), logger: Self.logger)
            #expect(response.status == 201)
            #expect(response.headers.first(name: "x-path") == "/a/b")
            #expect(response.headers.first(name: "x-method") == "POST")
            #expect(response.body == [3, 2, 1, 49])
        }
    }

    @Test func `A body over the limit is answered 413 and never handled`() async throws {
        let handled = Locked(0)
        try await Self.serve(bodyLimit: 1000) { _ in
            handled.withLock { $0 += 1 }
            return HTTPServerResponse(status: 200)
        } _: { url, client in
            for (size, status) in [(1001, 413), (1000, 200), (300_000, 413)] {
                var request = HTTPClientRequest(url: url)
                request.method = .POST
                request.body = [UInt8](repeating: 65, count: size)
                let response = try await client.execute(request, timeout: .seconds(5), logger: Self.logger)
                #expect(response.status == status)
            }
            #expect(handled.withLock { $0 } == 1)
        }
    }

    @Test func `A handler that takes too long is answered for with 503`() async throws {
        try await Self.serve(deadline: .milliseconds(50)) { _ in
            // Ends with the cancellation at the deadline, and with nothing else.
            let (never, source) = AsyncStream.makeStream(of: Never.self)
            for await _ in never {}
            source.finish()
            return HTTPServerResponse(status: 200)
        } _: { url, client in
            let response = try await client.execute(
                HTTPClientRequest(url: url), timeout: .seconds(5), logger: Self.logger)
            #expect(response.status == 503)
        }
    }

    @Test func `Many requests are answered at the same time`() async throws {
        try await Self.serve { request in
            HTTPServerResponse(status: 200, body: Array(request.path.utf8))
        } _: { url, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        var plain = HTTPClient.Configuration()
                        plain.allowsPlainText = true
                        let client = HTTPClient(configuration: plain)
                        for turn in 0..<25 {
                            let response = try await client.execute(
                                HTTPClientRequest(url: "\(url)/\(number)/\(turn)"), timeout: .seconds(5),
                                logger: Self.logger)
                            #expect(response.body == Array("/\(number)/\(turn)".utf8))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(arguments: [1, 3]) func `No more requests are handled at once than may be, and none is lost`(
        limit: Int
    ) async throws {
        let handled = Locked((now: 0, most: 0))
        try await Self.serve(concurrency: limit) { _ in
            handled.withLock { $0 = (now: $0.now + 1, most: max($0.most, $0.now + 1)) }
            // So long that all would be there at once if they were let in.
            await Wakeup().wait(until: .now + .milliseconds(30))
            handled.withLock { $0.now -= 1 }
            return HTTPServerResponse(status: 200)
        } _: { url, _ in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        // One of its own: a client has one request under way.
                        var plain = HTTPClient.Configuration()
                        plain.allowsPlainText = true
                        return try await HTTPClient(configuration: plain).execute(
                            HTTPClientRequest(url: url), timeout: .seconds(5), logger: Self.logger
                        ).status
                    }
                }
                for try await status in group { #expect(status == 200) }
            }
        }
        #expect(handled.withLock { $0.most } == limit)
    }

    @Test(.timeLimit(.minutes(1)), arguments: SlowCaller.Part.allCases)
    func `Whoever does not come to the end of a request is hung up on, however busily it comes`(
        part: SlowCaller.Part
    ) async throws {
        try await Self.serve(patience: .milliseconds(200)) { _ in
            HTTPServerResponse(status: 200)
        } _: { url, client in
            let port = try #require(UInt16(url.split(separator: ":").last ?? ""))
            try await SlowCaller.call(port: port, part)
            let response = try await client.execute(
                HTTPClientRequest(url: url), timeout: .seconds(5), logger: Self.logger)
            #expect(response.status == 200)
        }
    }

    @Test func `A request that came whole is waited for, however long its answer takes`() async throws {
        try await Self.serve(patience: .milliseconds(20)) { _ in
            await Wakeup().wait(until: .now + .milliseconds(200))
            return HTTPServerResponse(status: 200)
        } _: { url, client in
            let response = try await client.execute(
                HTTPClientRequest(url: url), timeout: .seconds(5), logger: Self.logger)
            #expect(response.status == 200)
        }
    }

    @Test(arguments: [
        ("/a%C3%A9%20b", "/a\u{e9} b"), ("/100%", "/100%"), ("/%zz%2", "/%zz%2"), ("/a%2Fb?c=%00", "/a/b"),
        ("/a+b", "/a+b"),
        ("/abc%00zzz", nil), ("/%ff%fe", nil), ("/%ED%A0%80", nil), ("/%00", nil),
    ]) func `A path reaches the handler decoded; one that holds a NUL or is no UTF-8 is refused`(
        sent: String, path: String?
    ) async throws {
        try await Self.serve { request in
            HTTPServerResponse(status: 200, body: Array(request.path.utf8))
        } _: { url, client in
            let response = try await client.execute(
                HTTPClientRequest(url: url + sent), timeout: .seconds(5), logger: Self.logger)
            #expect(response.status == (path == nil ? 400 : 200))
            if let path { #expect(response.body == Array(path.utf8)) }
        }
    }

    @Test func `An address that is taken is refused with its remedy`() async throws {
        try await Self.serve { _ in
            HTTPServerResponse(status: 200)
        } _: { url, _ in
            let port = UInt16(url.split(separator: ":").last ?? "") ?? 0
            let failure = #expect(throws: HTTPServer.Failure.self) {
                _ = try HTTPServer(.init(port: port), logger: Self.logger) { _ in HTTPServerResponse(status: 200) }
            }
            #expect("\(failure!)".contains("in use"))
        }
    }
}
