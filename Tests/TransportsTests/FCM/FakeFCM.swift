import Crypto
import Domain
import HTTP2
import Logging
import Threading

@testable import Transports

/// FCM and its token endpoint on one port, over TLS and HTTP/2, doing what a test says.
final class FakeFCM: Sendable {
    struct Received: Sendable {
        var path: String
        var authorization: String?
        var contentType: String?
        var body: [UInt8]
    }

    private struct State: Sendable {
        var received: [Received] = []
        var tokensAsked = 0
        var assertions: [[UInt8]] = []
    }

    let port: UInt16
    let trustFile: TemporaryFile
    let keyFile: TemporaryFile
    private let server: HTTP2Server
    private let state: Locked<State>
    private let identity: [TemporaryFile]

    /// - Parameters:
    ///   - send: answers the n-th message, from 1.
    ///   - token: answers the n-th request for a token; nil = `token-<n>` for an hour.
    init(
        send: @escaping @Sendable (Int, Received) -> HTTP2ServerAction = { _, _ in .accepted },
        token: (@Sendable (Int) -> HTTP2ServerAction)? = nil
    ) throws {
        let certificate = try SelfSignedCertificate.make()
        trustFile = try TemporaryFile(Array(certificate.authorityPEM.utf8))
        identity = [
            try TemporaryFile(Array(certificate.certificatePEM.utf8)),
            try TemporaryFile(Array(certificate.keyPEM.utf8)),
        ]
        let state = Locked(State())
        self.state = state
        server = try HTTP2Server(
            configuration: HTTP2ServerConfiguration(certificateFile: identity[0].path, keyFile: identity[1].path),
            logger: Logger(label: "fcm")
        ) { request in
            if request.text(":path") == "/token" {
                let count = state.withLock {
                    $0.tokensAsked += 1
                    $0.assertions.append(request.body)
                    return $0.tokensAsked
                }
                return token?(count) ?? .token("token-\(count)")
            }
            let received = Received(
                path: request.text(":path") ?? "",
                authorization: request.text("authorization"),
                contentType: request.text("content-type"),
                body: request.body)
            let count = state.withLock {
                $0.received.append(received)
                return $0.received.count
            }
            return send(count, received)
        }
        server.start()
        port = server.port
        keyFile = try TemporaryFile(OAuthVector.keyFile(tokenURI: "https://localhost:\(port)/token"))
    }

    deinit { server.stop() }

    var received: [Received] { state.withLock(\.received) }
    var tokensAsked: Int { state.withLock(\.tokensAsked) }
    var assertions: [[UInt8]] { state.withLock(\.assertions) }

    func transport(
        store: any AccessTokenStore = MemoryTokenStore(), requestDeadline: Duration = .seconds(20)
    ) throws -> FCMTransport {
        var configuration = FCMConfiguration()
        configuration.endpoint = "https://localhost:\(port)"
        configuration.trustFile = trustFile.path
        configuration.requestDeadline = requestDeadline
        return try FCMTransport(
            credential: .init(5), keyFile: keyFile.path, worker: WorkerID("a"), tokens: store,
            configuration: configuration, logger: Logger(label: "test"))
    }
}

extension HTTP2ServerAction {
    static let accepted = json(200, #"{"name":"projects/ferry-test/messages/0:17%ab"}"#)

    /// Our access token is not good (any more).
    static let unauthenticated = json(401, #"{"error":{"code":401,"status":"UNAUTHENTICATED"}}"#)

    static func token(_ text: String) -> HTTP2ServerAction {
        json(200, #"{"access_token":"\#(text)","expires_in":3600,"token_type":"Bearer"}"#)
    }

    static func json(_ status: Int, _ body: String) -> HTTP2ServerAction {
        .respond(
            HTTP2ServerResponse(
                status: status, fields: [("content-type", "application/json; charset=UTF-8")], body: Array(body.utf8)))
    }
}

extension FCMTransport {
    /// Sends and waits for every result.
    func results(
        of jobs: [OutgoingJob], _ content: ContentVersion = .boarding, beginBefore: Duration = .seconds(20)
    ) async throws -> [SendResult] {
        let (stream, continuation) = AsyncStream.makeStream(of: [SendResult].self)
        send(jobs, of: try prepare(content), beginBefore: .now + beginBefore) { continuation.yield($0) }
        var results: [SendResult] = []
        for await some in stream {
            results += some
            if results.count >= jobs.count { break }
        }
        return results.sorted { $0.ticket.ordinal < $1.ticket.ordinal }
    }
}

extension OutgoingJob {
    static func job(_ ordinal: Int16, language: String? = "en", values: [String?] = ["Zoë", "B4", "88/A"])
        -> OutgoingJob
    {
        OutgoingJob(
            ticket: Ticket(batch: 9, ordinal: ordinal), identity: JobIdentity(run: .init(12), number: Int64(ordinal)),
            address: Address(text: "token-of-\(ordinal)"), language: language, values: values, remainingSeconds: 900)
    }
}
