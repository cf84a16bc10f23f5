import HTTP2
import Logging
import Threading

/// A server, a client of it and what came back: one exchange for a test.
final class Exchange: Sendable {
    let server: HTTP2Server
    let client: HTTP2Client
    let collector = Collector()
    static let shared = HTTP2FieldBlock(["content-type": "application/json", "authorization": "bearer abc"])

    /// - Parameters:
    ///   - server: changes the server's configuration.
    ///   - client: changes the client's, which trusts the server and waits little before it connects again.
    init(
        host: String = "localhost", server: (inout HTTP2ServerConfiguration) -> Void = { _ in },
        client: (inout HTTP2ClientConfiguration) -> Void = { _ in },
        handler: @escaping @Sendable (HTTP2ServerRequest) -> HTTP2ServerAction
    ) throws {
        self.server = try HTTP2Server.forTest(server, handler: handler)
        self.server.start()
        self.client = HTTP2Client.forTest(host: host, port: self.server.port, client)
    }

    /// Submits requests 0..<count, whose paths are their ids.
    func submit(
        _ count: Int, from first: Int = 0, beginWithin: Duration = .seconds(20), deadline: Duration = .seconds(20),
        priority: HTTP2Priority = .normal
    ) {
        client.submit(
            (first..<first + count).map { .numbered($0) }, shared: Self.shared, beginBefore: .now + beginWithin,
            deadline: deadline, priority: priority, sink: collector.sink)
    }

    /// Submits and waits for all results.
    func results(
        of count: Int, beginWithin: Duration = .seconds(20), deadline: Duration = .seconds(20)
    ) async -> [HTTP2Result] {
        submit(count, beginWithin: beginWithin, deadline: deadline)
        return await collector.wait(for: count)
    }

    func end() async {
        await client.close(by: .now)
        server.stop()
    }
}

extension HTTP2Request {
    static func numbered(_ id: Int) -> HTTP2Request {
        HTTP2Request(id: UInt64(id), path: Array("/\(id)".utf8), body: Array("{\"id\":\(id)}".utf8))
    }
}

extension HTTP2ServerRequest {
    /// The number of a numbered request.
    var number: Int { Int(text(":path")?.dropFirst() ?? "") ?? -1 }
}

extension HTTP2ServerAction {
    static let ok = HTTP2ServerAction.respond(HTTP2ServerResponse(status: 200, body: Array("{}".utf8)))
}

extension HTTP2Server {
    static func forTest(
        _ configure: (inout HTTP2ServerConfiguration) -> Void = { _ in },
        handler: @escaping @Sendable (HTTP2ServerRequest) -> HTTP2ServerAction
    ) throws -> HTTP2Server {
        let certificate = TestCertificate.shared
        var configuration = HTTP2ServerConfiguration(
            certificateFile: certificate.certificateFile, keyFile: certificate.keyFile)
        configure(&configuration)
        return try HTTP2Server(configuration: configuration, logger: .quiet, handler: handler)
    }
}

extension HTTP2Client {
    static func forTest(
        host: String = "localhost", port: UInt16, _ configure: (inout HTTP2ClientConfiguration) -> Void = { _ in }
    ) -> HTTP2Client {
        var configuration = HTTP2ClientConfiguration(
            trust: .file(TestCertificate.shared.authorityFile), reconnectDelay: .milliseconds(10),
            maxReconnectDelay: .milliseconds(50))
        configure(&configuration)
        let origin = HTTP2Origin(host: host, port: port)
        return HTTP2Client(origin: origin, configuration: configuration, logger: .quiet)
    }
}

extension Logger {
    static var quiet: Logger {
        var logger = Logger(label: "http2.test")
        logger.logLevel = .critical
        return logger
    }
}
