import Crypto
import Domain
import Foundation
import HTTP2
import Logging
import Threading

@testable import Transports

/// A push service over TLS and HTTP/2 that keeps what it got and does what a test says.
final class FakePushService: Sendable {
    struct Received: Sendable {
        let path: String
        let fields: [String: String]
        let body: [UInt8]
    }

    /// Private key and secret of the one browser that all subscriptions of a test belong to.
    static let privateKey = [UInt8](repeating: 7, count: 32)
    static let secret = [UInt8](repeating: 9, count: 16)

    let port: UInt16
    private let trustFile: TemporaryFile
    private let bundle = Locked<TemporaryFile?>(nil)
    private let server: HTTP2Server
    private let state = Locked<[Received]>([])
    private let identity: [TemporaryFile]

    init(_ answer: @escaping @Sendable (Int, Received) -> HTTP2ServerAction = { _, _ in .created }) throws {
        let certificate = try SelfSignedCertificate.make()
        trustFile = try TemporaryFile(Array(certificate.authorityPEM.utf8))
        identity = [
            try TemporaryFile(Array(certificate.certificatePEM.utf8)),
            try TemporaryFile(Array(certificate.keyPEM.utf8)),
        ]
        let state = state
        server = try HTTP2Server(
            configuration: HTTP2ServerConfiguration(certificateFile: identity[0].path, keyFile: identity[1].path),
            logger: Logger(label: "push")
        ) { request in
            let fields = request.fields.map { ($0.name, String(decoding: $0.value, as: UTF8.self)) }
            let received = Received(
                path: request.text(":path") ?? "", fields: Dictionary(fields) { first, _ in first },
                body: request.body)
            let count = state.withLock {
                $0.append(received)
                return $0.count
            }
            return answer(count, received)
        }
        server.start()
        port = server.port
    }

    deinit { server.stop() }

    var received: [Received] { state.withLock { $0 } }

    func endpoint(_ name: String, host: String = "127.0.0.1") -> String { "https://\(host):\(port)/push/\(name)" }

    func transport(
        service: WebPushService = .other, keys: [WebPushTransport.Key],
        _ change: (inout WebPushConfiguration) -> Void = { _ in }
    ) throws -> WebPushTransport {
        var configuration = WebPushConfiguration()
        configuration.endpoints = EndpointPolicy(hosts: nil, allowsPrivate: true)
        configuration.privateNetworks = ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) }
        configuration.trustFile = trustFile.path
        change(&configuration)
        return try WebPushTransport(
            service: service, newest: keys[0], others: Array(keys.dropFirst()), configuration: configuration,
            logger: Logger(label: "test"))
    }

    /// What the browser reads.
    static func open(_ body: [UInt8]) throws -> String {
        let opener = try EncryptedContent.Opener(privateKey: privateKey, secret: secret)
        return String(decoding: try opener.open(body), as: UTF8.self)
    }

    static func address(_ endpoint: String, vapidKey: Credential.ID? = nil) throws -> Address {
        let opener = try EncryptedContent.Opener(privateKey: privateKey, secret: secret)
        return Address(
            text: endpoint, p256dh: Base64URL.encode(opener.publicKey), auth: Base64URL.encode(secret),
            vapidKey: vapidKey)
    }
}

extension HTTP2ServerAction {
    static let created: HTTP2ServerAction = .respond(
        HTTP2ServerResponse(status: 201, fields: [("location", "/m/17"), ("ttl", "900")], body: []))

    static func status(_ status: Int, _ fields: [(String, String)] = [], _ body: String = "") -> HTTP2ServerAction {
        .respond(HTTP2ServerResponse(status: status, fields: fields, body: Array(body.utf8)))
    }
}

extension OutgoingJob {
    /// For the worked example's placeholders.
    static func web(_ ordinal: Int16, _ address: Address = Address(text: ""), remaining: Int64 = 900) -> OutgoingJob {
        OutgoingJob(
            ticket: Ticket(batch: 9, ordinal: ordinal), identity: JobIdentity(run: .init(12), number: Int64(ordinal)),
            address: address, language: "en", values: ["Zoë", "B4", "88/A"], remainingSeconds: remaining)
    }
}

extension WebPushTransport {
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

extension FakePushService {
    /// A transport that trusts several services.
    static func shared(
        _ services: [FakePushService], keys: [WebPushTransport.Key], _ change: (inout WebPushConfiguration) -> Void
    ) throws -> WebPushTransport {
        let authorities = try services.flatMap { Array(try Data(contentsOf: URL(fileURLWithPath: $0.trustFile.path))) }
        let bundle = try TemporaryFile(authorities)
        // Read again for each host that is connected to.
        services[0].bundle.withLock { $0 = bundle }
        return try services[0].transport(keys: keys) {
            change(&$0)
            $0.trustFile = bundle.path
        }
    }
}
