import Crypto
import Domain
import Foundation
import HTTP2
import Logging
import Testing
import Threading

@testable import Transports

@Suite(.timeLimit(.minutes(1))) struct FCMTransportTests {
    /// Runs the transport's refresh beside `body`, as its owner does.
    private func running(_ transport: FCMTransport, _ body: @escaping () async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await transport.run() }
            try await body()
            group.cancelAll()
        }
        await transport.close(by: .now + .seconds(5))
    }

    @Test func `a job is delivered under FCM's id, with status, language and latency`() async throws {
        let fake = try FakeFCM()
        let transport = try fake.transport()
        try await running(transport) {
            try await transport.ready()
            let results = try await transport.results(of: [.job(0), .job(1, language: "pt_BR"), .job(2)])
            #expect(results.map(\.ticket) == (0..<3).map { Ticket(batch: 9, ordinal: $0) })
            #expect(results.map(\.language) == ["en", "pt-BR", "en"])
            for result in results {
                #expect(result.fate == .answered(.delivered(messageID: "0:17%ab")))
                #expect(result.status == 200)
                #expect(try #require(result.latency) > .zero)
            }
        }
    }

    @Test func `a request is what FCM asks for`() async throws {
        let fake = try FakeFCM()
        let transport = try fake.transport()
        try await running(transport) {
            try await transport.ready()
            _ = try await transport.results(of: [.job(4)])
        }
        let request = try #require(fake.received.first)
        #expect(request.path == "/v1/projects/ferry-test/messages:send")
        #expect(request.authorization == "Bearer token-1")
        #expect(request.contentType == "application/json; charset=UTF-8")
        #expect(try (json(request.body)["message"] as? NSDictionary)?["token"] as? String == "token-of-4")
    }

    /// The store's clock lies months before this machine's.
    @Test func `Apple is told when a message is over by the database's clock`() async throws {
        let fake = try FakeFCM()
        let transport = try fake.transport()
        let content = ContentVersion(
            id: ContentVersion.boarding.id, message: ContentVersion.boarding.message,
            delivery: DeliveryOptions(ttlSeconds: 900, fcmMode: .notification))
        try await running(transport) {
            try await transport.ready()
            _ = try await transport.results(of: [.job(4)], content)
        }
        let message = try json(try #require(fake.received.first).body)["message"] as? NSDictionary
        let headers = (message?["apns"] as? NSDictionary)?["headers"] as? NSDictionary
        let expiration = headers?["apns-expiration"] as? String
        let seconds = try #require(expiration.flatMap { Int64($0) })
        #expect((1_774_000_900..<1_774_000_960).contains(seconds))
    }

    @Test func `the token endpoint gets an assertion that verifies`() async throws {
        let fake = try FakeFCM()
        let transport = try fake.transport()
        try await running(transport) { try await transport.ready() }
        let form = String(decoding: try #require(fake.assertions.first), as: UTF8.self)
        let text = try #require(form.components(separatedBy: "assertion=").last)
        let key = try RSA.Signing.PrivateKey(pemRepresentation: OAuthVector.load().pem)
        try JSONWebToken(parsing: text).verify(using: key.publicKey)
    }

    @Test func `a refused access token is replaced once and the job sent again`() async throws {
        let fake = try FakeFCM { _, request in
            request.authorization == "Bearer token-1" ? .unauthenticated : .accepted
        }
        let transport = try fake.transport()
        try await running(transport) {
            try await transport.ready()
            let first = try await transport.results(of: [.job(0), .job(1)])
            #expect(first.map(\.fate) == [.notSent(.fcmUnauthenticated), .notSent(.fcmUnauthenticated)])
            try await transport.ready()
            let second = try await transport.results(of: [.job(0), .job(1)])
            #expect(second.map(\.fate) == Array(repeating: .answered(.delivered(messageID: "0:17%ab")), count: 2))
        }
        #expect(fake.tokensAsked == 2)
    }

    @Test func `a second refusal is the credential's fault and fetches no token`() async throws {
        let fake = try FakeFCM { _, _ in .unauthenticated }
        let transport = try fake.transport()
        try await running(transport) {
            try await transport.ready()
            #expect(try await transport.results(of: [.job(0)]).map(\.fate) == [.notSent(.fcmUnauthenticated)])
            try await transport.ready()
            let again = try await transport.results(of: [.job(0)])
            #expect(again.map(\.fate) == [.answered(.credential(.fcmUnauthenticated))])
            #expect(again.map(\.status) == [401])
        }
        #expect(fake.tokensAsked == 2)
    }

    @Test func `a token that is definitely refused is said for every job`() async throws {
        let fake = try FakeFCM(token: { _ in
            .json(400, #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#)
        })
        let transport = try fake.transport()
        try await running(transport) {
            await #expect(throws: AccessTokenRefused.self) { try await transport.ready() }
            let results = try await transport.results(of: [.job(0), .job(1)])
            #expect(
                results.map(\.fate) == Array(repeating: .answered(.credential(.fcmAccessTokenRefused)), count: 2))
        }
        #expect(fake.received.isEmpty)
    }

    @Test func `without a token yet nothing leaves and nothing is lost`() async throws {
        let fake = try FakeFCM()
        let transport = try fake.transport()
        #expect(transport.capacity == 0)
        let results = try await transport.results(of: [.job(0)])
        #expect(results.map(\.fate) == [.notSent(.fcmUnauthenticated)])
        #expect(fake.received.isEmpty)
        await transport.close(by: .now + .seconds(5))
    }

    @Test func `a job that cannot be rendered is refused and does not leave`() async throws {
        let fake = try FakeFCM()
        let transport = try fake.transport()
        let long = String(repeating: "x", count: 4096)
        try await running(transport) {
            try await transport.ready()
            #expect(transport.capacity > 0)
            let results = try await transport.results(of: [.job(0), .job(1, values: [long, nil, nil]), .job(2)])
            #expect(results[1].fate == .answered(.refused(.payloadTooLarge)))
            #expect(results[1].status == nil)
            #expect(results[1].latency == nil)
        }
        #expect(fake.received.count == 2)
    }

    @Test func `an answer's class, status and Retry-After come through`() async throws {
        let fake = try FakeFCM { _, _ in
            .respond(HTTP2ServerResponse(status: 503, fields: [("retry-after", "45")], body: []))
        }
        let transport = try fake.transport()
        try await running(transport) {
            try await transport.ready()
            let result = try await transport.results(of: [.job(0)])[0]
            #expect(result.fate == .answered(.retry(.fcmUnavailable, after: .seconds(45))))
            #expect(result.status == 503)
        }
    }

    @Test func `a request without an answer may have left`() async throws {
        let fake = try FakeFCM { count, _ in count == 1 ? .stall : .reset(code: 2) }
        let transport = try fake.transport(requestDeadline: .milliseconds(300))
        try await running(transport) {
            try await transport.ready()
            #expect(try await transport.results(of: [.job(0)]).map(\.fate) == [.mayHaveLeft(.timedOut)])
            let reset = try await transport.results(of: [.job(1)])
            #expect(reset.map(\.fate) == [.mayHaveLeft(.streamReset)])
            #expect(reset.map(\.status) == [nil])
        }
    }

    @Test func `a second transport takes the sealed token from the store`() async throws {
        let fake = try FakeFCM()
        let store = MemoryTokenStore()
        for _ in 0..<2 {
            let transport = try fake.transport(store: store)
            try await running(transport) {
                try await transport.ready()
                #expect(try await transport.results(of: [.job(0)])[0].status == 200)
            }
        }
        #expect(fake.tokensAsked == 1)
    }

    @Test(arguments: FCMErrorTable.unanswered) func `faults of the network keep job, address and credential`(
        row: FCMErrorRow
    ) throws {
        let fault = try #require(HTTP2Fault(reason: row.reason))
        let results = FCMResults(
            tokens: try tokensThatNobodyAsksFor(), generation: 1, message: FCMMessageCompiler(.boarding).compile())
        let id = FCMRequestID(ticket: Ticket(batch: .max, ordinal: -1), body: 1)
        let outcome: HTTP2Result.Outcome = row.mayHaveBeenSent ? .mayHaveBeenSent(fault) : .notSent(fault)
        let sent = results.convert([HTTP2Result(id: id.rawValue, outcome: outcome, begunAt: nil, endedAt: .now)])
        let converted = try #require(sent.first)
        #expect(converted.ticket == Ticket(batch: .max, ordinal: -1))
        #expect(converted.language == "pt-BR")
        switch converted.fate {
        case .notSent: #expect(!row.mayHaveBeenSent)
        case .tryAgain: Issue.record("FCM knows no second try")
        case .mayHaveLeft: #expect(row.mayHaveBeenSent)
        case .answered: Issue.record("nobody answered")
        }
    }

    private func tokensThatNobodyAsksFor() throws -> AccessTokens {
        let file = try TemporaryFile(OAuthVector.keyFile())
        return AccessTokens(
            credential: .init(1), worker: WorkerID("a"), keyFile: try KeyFileReading(path: file.path),
            store: MemoryTokenStore(), configuration: AccessTokens.Configuration(), logger: Logger(label: "test")
        ) { _, _ in .failed(.retry(.none, after: nil), word: nil) }
    }

    @Test(
        arguments: [
            ("https://fcm.googleapis.com", HTTP2Origin(host: "fcm.googleapis.com", port: 443)),
            ("https://localhost:8443/", HTTP2Origin(host: "localhost", port: 8443)),
            ("https://[::1]:8443", HTTP2Origin(host: "::1", port: 8443)),
            ("https://[::1]", HTTP2Origin(host: "::1", port: 443)),
            ("http://localhost", nil), ("https://", nil), ("https://a:b", nil), ("https://a:99999", nil),
            ("https://a/b", nil), ("https://u@a", nil), ("localhost", nil),
        ] as [(String, HTTP2Origin?)])
    func `an endpoint is an https origin`(endpoint: String, origin: HTTP2Origin?) throws {
        var configuration = FCMConfiguration()
        configuration.endpoint = endpoint
        if let origin {
            #expect(try configuration.origin() == origin)
        } else {
            #expect(throws: FCMEndpointInvalid.self) { try configuration.origin() }
        }
    }
}

extension HTTP2Fault {
    /// As `fcm-errors.json` names what kept an answer away.
    fileprivate init?(reason: String?) {
        switch reason {
        case "REFUSED_STREAM": self = .refusedStream
        case "GOAWAY_NOT_PROCESSED": self = .goAway
        case "CONNECT", "TLS": self = .connectFailed
        case "TIMEOUT": self = .timedOut
        case "STREAM_RESET": self = .streamReset(code: 2)
        default: return nil
        }
    }
}
