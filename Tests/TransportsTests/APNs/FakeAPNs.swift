import Crypto
import Domain
import Foundation
import HTTP2
import Logging
import Testing
import Threading

@testable import Transports

/// Both of Apple's hosts, on ports of this machine, over TLS and HTTP/2, doing what a test says.
final class FakeAPNs: Sendable {
    struct Received: Sendable {
        var environment: PushEnvironment
        var connection: UInt64
        var fields: [String: String]
        var body: [UInt8]

        var path: String { fields[":path"] ?? "" }
        var token: String? { fields["authorization"] }
    }

    let credential: APNsCredential
    private let trustFile: TemporaryFile
    private let identity: [TemporaryFile]
    private let servers: [HTTP2Server]
    private let state: Locked<[Received]>

    /// - Parameter answer: to the n-th request of both, from 1.
    init(
        key: [String: String] = [:], goAwayDebugData: String = "",
        answer: @escaping @Sendable (Int, Received) -> HTTP2ServerAction = { _, request in .taken(request) }
    ) throws {
        let certificate = try SelfSignedCertificate.make()
        trustFile = try TemporaryFile(Array(certificate.authorityPEM.utf8))
        let identity = [
            try TemporaryFile(Array(certificate.certificatePEM.utf8)),
            try TemporaryFile(Array(certificate.keyPEM.utf8)),
        ]
        self.identity = identity
        let state = Locked<[Received]>([])
        self.state = state
        servers = try [PushEnvironment.production, .sandbox].map { environment in
            try HTTP2Server(
                configuration: HTTP2ServerConfiguration(
                    certificateFile: identity[0].path, keyFile: identity[1].path,
                    goAwayDebugData: Array(goAwayDebugData.utf8)),
                logger: Logger(label: "apns")
            ) { request in
                var fields: [String: String] = [:]
                for (name, value) in request.fields { fields[name] = String(decoding: value, as: UTF8.self) }
                let received = Received(
                    environment: environment, connection: request.connectionID, fields: fields, body: request.body)
                let count = state.withLock {
                    $0.append(received)
                    return $0.count
                }
                return answer(count, received)
            }
        }
        var members = key
        members["production_endpoint"] = "https://localhost:\(servers[0].port)"
        members["sandbox_endpoint"] = "https://localhost:\(servers[1].port)"
        credential = try APNsCredential(members)
        for server in servers { server.start() }
    }

    deinit { stop() }

    /// From now on nobody listens.
    func stop() { for server in servers { server.stop() } }

    var received: [Received] { state.withLock { $0 } }

    /// - Parameter trustFile: nil = it trusts this server.
    func transport(
        store: any AccessTokenStore = MemoryTokenStore(), requestDeadline: Duration = .seconds(20),
        trustFile: String? = nil
    ) throws -> APNsTransport {
        var configuration = APNsConfiguration()
        configuration.trustFile = trustFile ?? self.trustFile.path
        configuration.requestDeadline = requestDeadline
        configuration.maximumConnections = 1
        return try APNsTransport(
            credential: .init(5), keyFile: credential.file, worker: WorkerID("a"), tokens: store,
            configuration: configuration, logger: Logger(label: "test"))
    }
}

extension HTTP2ServerAction {
    /// Accepted under the request's own id.
    static func taken(_ request: FakeAPNs.Received) -> HTTP2ServerAction {
        .respond(HTTP2ServerResponse(status: 200, fields: [("apns-id", request.fields["apns-id"] ?? "")]))
    }

    static func apns(_ status: Int, _ reason: String, retryAfter: String? = nil) -> HTTP2ServerAction {
        .respond(
            HTTP2ServerResponse(
                status: status, fields: retryAfter.map { [("retry-after", $0)] } ?? [],
                body: Array(#"{"reason":"\#(reason)"}"#.utf8)))
    }
}

extension APNsTransport {
    /// Sends and waits for every result, giving what is worth a second try again, as the worker does.
    func results(
        of jobs: [OutgoingJob], _ content: ContentVersion = .boarding, beginBefore: Duration = .seconds(20)
    ) async throws -> [SendResult] {
        let (stream, continuation) = AsyncStream.makeStream(of: [SendResult].self)
        let message = try prepare(content)
        func send(_ jobs: [OutgoingJob]) {
            self.send(jobs, of: message, beginBefore: .now + beginBefore) { continuation.yield($0) }
        }
        send(jobs)
        var results: [SendResult] = []
        for await some in stream {
            for result in some {
                guard case .tryAgain(let second) = result.fate else {
                    results.append(result)
                    continue
                }
                for var job in jobs where job.ticket == result.ticket {
                    try #require(job.secondTry == nil)
                    job.secondTry = second
                    send([job])
                }
            }
            if results.count >= jobs.count { break }
        }
        return results.sorted { $0.ticket.ordinal < $1.ticket.ordinal }
    }
}

extension OutgoingJob {
    /// To a device whose token ends with the ordinal.
    static func apns(
        _ ordinal: Int16, _ environment: PushEnvironment = .production, values: [String?] = ["Zoë", "B4", "88/A"],
        remaining: Int64 = 900
    ) -> OutgoingJob {
        let digits = String(ordinal)
        return OutgoingJob(
            ticket: Ticket(batch: 9, ordinal: ordinal), identity: JobIdentity(run: .init(12), number: Int64(ordinal)),
            address: Address(
                text: String(repeating: "a", count: 64 - digits.count) + digits, environment: environment),
            language: "en", values: values, remainingSeconds: remaining)
    }
}
