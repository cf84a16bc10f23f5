import Crypto
import Foundation
import HTTP2
import Logging
import PlainHTTP
import Testing

@Suite(.timeLimit(.minutes(1))) struct HTTPClientTests {
    private let logger = Logger(label: "test")

    private func answer(
        _ server: TestServer, path: String = "/token", trusts: Bool = true, maximumBody: Int = 1 << 20,
        host: String = "localhost"
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        var configuration = HTTPClient.Configuration()
        if trusts { configuration.trustFile = server.trustFile }
        configuration.maximumBodyBytes = maximumBody
        var request = HTTPClientRequest(url: "https://\(host):\(server.port)\(path)")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.body = Array("a=b&c=d".utf8)
        return try await HTTPClient(configuration: configuration).execute(
            request, timeout: .seconds(20), logger: logger)
    }

    @Test func `a request goes out whole and its answer comes back whole`() async throws {
        let server = try TestServer { request in
            let echo =
                "\(request.method) \(request.text(":path") ?? "") \(String(decoding: request.body, as: UTF8.self))"
            return .respond(
                HTTP2ServerResponse(
                    status: 418, fields: [("retry-after", "7"), ("x-type", request.text("content-type") ?? "")],
                    body: Array(echo.utf8)))
        }
        let response = try await answer(server)
        #expect(response.status == 418)
        #expect(String(decoding: response.body, as: UTF8.self) == "POST /token a=b&c=d")
        #expect(response.headers.first(name: "Retry-After") == "7")
        #expect(response.headers["X-Type"] == ["application/x-www-form-urlencoded"])
    }

    @Test func `an authority that is not trusted gets nothing`() async throws {
        let server = try TestServer { _ in .respond(HTTP2ServerResponse(status: 200)) }
        let fault = await #expect(throws: HTTPClientError.self) { try await answer(server, trusts: false) }
        #expect(fault?.code == .tlsFailed)
    }

    @Test func `a certificate for another name gets nothing`() async throws {
        let server = try TestServer(hosts: ["elsewhere.example"], addresses: []) { _ in
            .respond(HTTP2ServerResponse(status: 200))
        }
        let fault = await #expect(throws: HTTPClientError.self) { try await answer(server) }
        #expect(fault?.code == .tlsFailed)
    }

    @Test func `a redirect is an answer and is not followed`() async throws {
        let server = try TestServer { request in
            request.text(":path") == "/token"
                ? .respond(HTTP2ServerResponse(status: 302, fields: [("location", "/elsewhere")]))
                : .respond(HTTP2ServerResponse(status: 200))
        }
        let response = try await answer(server)
        #expect(response.status == 302)
        #expect(response.headers.first(name: "location") == "/elsewhere")
    }

    @Test(arguments: [(1000, true), (1001, false)]) func `a body may be as long as the client says`(
        length: Int, fits: Bool
    ) async throws {
        let server = try TestServer { _ in
            .respond(HTTP2ServerResponse(status: 200, body: [UInt8](repeating: 65, count: length)))
        }
        do {
            let response = try await answer(server, maximumBody: 1000)
            #expect(fits && response.body.count == length)
        } catch { #expect(!fits && error.code == .bodyTooLarge) }
    }

    @Test func `a connection that ends before the answer is a lost one`() async throws {
        let server = try TestServer { _ in .closeConnection(hard: true) }
        let fault = await #expect(throws: HTTPClientError.self) { try await answer(server) }
        #expect(fault?.code == .connectionLost)
    }
}

/// A server over TLS with an authority of its own.
private final class TestServer: Sendable {
    let port: UInt16
    let trustFile: String
    private let folder: URL
    private let server: HTTP2Server

    init(
        hosts: [String] = ["localhost"], addresses: [String] = ["127.0.0.1"],
        handler: @escaping @Sendable (HTTP2ServerRequest) -> HTTP2ServerAction
    ) throws {
        let certificate = try SelfSignedCertificate.make(hosts: hosts, addresses: addresses)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func write(_ name: String, _ text: String) throws -> String {
            let file = folder.appendingPathComponent(name)
            try Data(text.utf8).write(to: file)
            return file.path
        }
        trustFile = try write("authority.pem", certificate.authorityPEM)
        let configuration = HTTP2ServerConfiguration(
            certificateFile: try write("certificate.pem", certificate.certificatePEM),
            keyFile: try write("key.pem", certificate.keyPEM))
        server = try HTTP2Server(configuration: configuration, logger: Logger(label: "server"), handler: handler)
        port = server.port
        self.folder = folder
        server.start()
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}
