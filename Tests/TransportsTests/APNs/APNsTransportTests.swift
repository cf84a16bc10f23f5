import Crypto
import Domain
import Foundation
import HTTP2
import Logging
import Testing
import Threading

@testable import Transports

@Suite(.timeLimit(.minutes(1))) struct APNsTransportTests {
    /// Runs the transport's renewal beside `body`, as its owner does.
    private func running(_ transport: APNsTransport, _ body: @escaping () async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await transport.run() }
            try await transport.ready()
            try await body()
            group.cancelAll()
        }
        await transport.close(by: .now + .seconds(5))
    }

    @Test func `a request is what Apple asks for`() async throws {
        let fake = try FakeAPNs()
        let transport = try fake.transport()
        try await running(transport) {
            let result = try await transport.results(of: [.apns(7)])[0]
            #expect(result.fate == .answered(.delivered(messageID: APNsRendering.apnsID(of: "12-7"))))
            #expect(result.status == 200)
            #expect(result.language == "en")
            #expect(try #require(result.latency) > .zero)
        }
        let request = try #require(fake.received.first)
        #expect(request.path == "/3/device/" + String(repeating: "a", count: 63) + "7")
        let token = try #require(request.token)
        #expect(token.hasPrefix("bearer "))
        try JSONWebToken(parsing: String(token.dropFirst(7))).verify(using: fake.credential.privateKey.publicKey)
        #expect(request.fields["apns-topic"] == "example.ferry")
        #expect(request.fields["apns-push-type"] == "alert")
        #expect(request.fields["apns-priority"] == "10")
        #expect(request.fields["apns-id"] == APNsRendering.apnsID(of: "12-7"))
        let expiration = try #require(Int64(request.fields["apns-expiration"] ?? ""))
        // By the database's clock, which the store of this test sets.
        #expect((1_774_000_900...1_774_000_910).contains(expiration))
    }

    @Test func `production and sandbox are told apart by subscriber`() async throws {
        let fake = try FakeAPNs()
        let transport = try fake.transport()
        try await running(transport) {
            let results = try await transport.results(of: [.apns(1), .apns(2, .sandbox), .apns(3, .unknown)])
            #expect(results.allSatisfy { $0.status == 200 && $0.environment == nil })
        }
        let byToken = Dictionary(uniqueKeysWithValues: fake.received.map { ($0.path.last, $0.environment) })
        #expect(byToken == ["1": .production, "2": .sandbox, "3": .production])
    }

    @Test(arguments: [PushEnvironment.production, .sandbox, .unknown])
    func `a token that one environment does not know goes to the other once, which is remembered`(
        registered: PushEnvironment
    ) async throws {
        let home: PushEnvironment = registered == .sandbox ? .production : .sandbox
        let fake = try FakeAPNs { _, request in
            request.environment == home ? .taken(request) : .apns(400, "BadDeviceToken")
        }
        let transport = try fake.transport()
        try await running(transport) {
            let result = try await transport.results(of: [.apns(1, registered)])[0]
            #expect(result.fate == .answered(.delivered(messageID: APNsRendering.apnsID(of: "12-1"))))
            #expect(result.environment == home)
        }
        #expect(fake.received.count == 2)
        #expect(Set(fake.received.map(\.body)).count == 1)
    }

    /// A request more within the same call would be one that no rate knew of.
    @Test(
        arguments: [
            (400, "BadDeviceToken", .otherEnvironment(.sandbox)), (503, "Shutdown", .otherConnection(.apnsShutdown)),
        ] as [(Int, String, SecondTry)])
    func `a job that goes a second time does so when it is given again, and then no more`(
        status: Int, reason: String, second: SecondTry
    ) async throws {
        let fake = try FakeAPNs { _, _ in .apns(status, reason) }
        let transport = try fake.transport()
        try await running(transport) {
            let (stream, continuation) = AsyncStream.makeStream(of: [SendResult].self)
            var results = stream.makeAsyncIterator()
            var job = OutgoingJob.apns(1)
            let message = try transport.prepare(.boarding)
            transport.send([job], of: message, beginBefore: .now + .seconds(20)) { continuation.yield($0) }
            #expect(await results.next()?.map(\.fate) == [.tryAgain(second)])
            #expect(fake.received.count == 1)
            job.secondTry = second
            transport.send([job], of: message, beginBefore: .now + .seconds(20)) { continuation.yield($0) }
            guard case .answered = await results.next()?.first?.fate else {
                Issue.record("it goes a third time")
                return
            }
        }
        #expect(fake.received.count == 2)
    }

    @Test func `a token that neither environment knows is dead`() async throws {
        let fake = try FakeAPNs { _, _ in .apns(400, "BadDeviceToken") }
        let transport = try fake.transport()
        try await running(transport) {
            let result = try await transport.results(of: [.apns(1)])[0]
            guard case .answered(.unregistered(.apnsBadDeviceToken, since: .some)) = result.fate else {
                Issue.record("\(result.fate)")
                return
            }
        }
        #expect(fake.received.map(\.environment) == [.production, .sandbox])
    }

    @Test func `a key for one environment proves a bad token by itself`() async throws {
        let fake = try FakeAPNs(key: ["environment": "sandbox"]) { _, _ in .apns(400, "BadDeviceToken") }
        let transport = try fake.transport()
        try await running(transport) {
            let result = try await transport.results(of: [.apns(1, .unknown)])[0]
            guard case .answered(.unregistered(.apnsBadDeviceToken, since: .some)) = result.fate else {
                Issue.record("\(result.fate)")
                return
            }
        }
        #expect(fake.received.map(\.environment) == [.sandbox])
    }

    @Test(arguments: ["BadEnvironmentKeyIdInToken", "InvalidProviderToken", "Forbidden"])
    func `a key that the other environment refuses makes the address suspect and pauses nothing`(
        reason: String
    ) async throws {
        let fake = try FakeAPNs { _, request in
            request.environment == .production ? .apns(400, "BadDeviceToken") : .apns(403, reason)
        }
        let transport = try fake.transport()
        try await running(transport) {
            let result = try await transport.results(of: [.apns(1)])[0]
            #expect(result.fate == .answered(.refused(.apnsBadDeviceToken)))
        }
    }

    /// With no more than a quarter of an hour left, what Apple names is kept, and what it does not name is a minute.
    @Test(
        arguments: [
            ("900", .seconds(900)), (nil, .seconds(60)), ("30", .seconds(30)), ("0", nil),
        ] as [(String?, Duration?)])
    func `a fault of Apple's is waited out as long as it says, over the connections that there are`(
        retryAfter: String?, wait: Duration?
    ) async throws {
        let fake = try FakeAPNs { _, _ in .apns(503, "ServiceUnavailable", retryAfter: retryAfter) }
        let transport = try fake.transport()
        try await running(transport) {
            let results = try await transport.results(of: [.apns(1)])
            #expect(results.map(\.fate) == [.answered(.retry(.apnsServiceUnavailable, after: wait))])
        }
        #expect(fake.received.count == 1)
    }

    @Test(arguments: [(503, "Shutdown"), (400, "IdleTimeout"), (403, "UnrelatedKeyIdInToken")])
    func `a fault of the connection costs no attempt and goes over another`(status: Int, reason: String) async throws {
        let fake = try FakeAPNs { count, request in count == 1 ? .apns(status, reason) : .taken(request) }
        let transport = try fake.transport()
        try await running(transport) {
            let results = try await transport.results(of: [.apns(1)])
            #expect(results.map(\.status) == [200])
        }
        #expect(fake.received.count == 2)
        #expect(Set(fake.received.map(\.connection)).count == 2)
    }

    @Test(
        arguments: [
            (503, "Shutdown", .retry(.apnsShutdown, after: nil)),
            (403, "UnrelatedKeyIdInToken", .credential(.apnsUnrelatedKeyID)),
        ] as [(Int, String, Answer)])
    func `a fault that another connection has, too, is the service's`(
        status: Int, reason: String, expected: Answer
    ) async throws {
        let fake = try FakeAPNs { _, _ in .apns(status, reason) }
        let transport = try fake.transport()
        try await running(transport) {
            let results = try await transport.results(of: [.apns(1)])
            #expect(results.map(\.fate) == [.answered(expected)])
        }
        #expect(fake.received.count == 2)
    }

    @Test func `an expired token is replaced once, over a new connection, and the job sent again for nothing`()
        async throws
    {
        let store = MemoryTokenStore()
        let fake = try FakeAPNs { count, request in
            count <= 2 ? .apns(403, "ExpiredProviderToken") : .taken(request)
        }
        // It was signed half an hour ago by a worker of the same fleet.
        let old = try fake.transport(store: store)
        try await running(old) {}
        store.advance(by: .seconds(1800))
        let transport = try fake.transport(store: store)
        try await running(transport) {
            let first = try await transport.results(of: [.apns(1), .apns(2)])
            #expect(first.allSatisfy { $0.fate == .notSent(.apnsExpiredProviderToken) })
            try await transport.ready()
            #expect(try await transport.results(of: [.apns(1), .apns(2)]).allSatisfy { $0.status == 200 })
        }
        #expect(Set(fake.received.prefix(2).map(\.token)).count == 1)
        #expect(fake.received[2].token != fake.received[0].token)
        #expect(fake.received[2].connection != fake.received[0].connection)
    }

    @Test func `a token younger than 20 minutes that counts as expired means a wrong clock: no new one is signed`()
        async throws
    {
        let fake = try FakeAPNs { _, _ in .apns(403, "ExpiredProviderToken") }
        let store = MemoryTokenStore()
        let transport = try fake.transport(store: store)
        try await running(transport) {
            for _ in 0..<3 {
                let fates = try await transport.results(of: [.apns(1)]).map(\.fate)
                #expect(fates == [.answered(.credential(.apnsExpiredProviderToken))])
            }
        }
        #expect(Set(fake.received.map(\.token)).count == 1)
        #expect(store.state.withLock(\.stored) == 1)
    }

    @Test func `a token that is too new waits while the one before goes on`() throws {
        let start = ContinuousClock.now
        func token(_ generation: UInt64, owner: String = "k", until: Duration = .seconds(3000)) -> TokenState.Installed
        {
            TokenState.Installed(
                generation: generation, token: AccessToken(text: "t\(generation)"), owner: owner,
                issuedAt: Instant(microseconds: 0), expiresAt: Instant(microseconds: 1), usableUntil: start + until,
                clock: DatabaseClock(reading: Instant(microseconds: 0), takenAt: start), isRepair: false)
        }
        var choice = APNsTokenChoice()
        #expect(choice.choose(token(1), at: start).token.generation == 1)
        #expect(choice.choose(token(2), at: start).token.generation == 2)
        choice.holdBack(2, at: start)
        #expect(choice.choose(token(2), at: start + .seconds(1199)).token.generation == 1)
        #expect(choice.choose(token(2), at: start + .seconds(1200)).token.generation == 2)
        // The one before has expired: there is no choice.
        var old = APNsTokenChoice()
        _ = old.choose(token(1, until: .seconds(5)), at: start)
        _ = old.choose(token(2), at: start)
        old.holdBack(2, at: start)
        #expect(old.choose(token(2), at: start + .seconds(6)).token.generation == 2)
        // Or Apple says so.
        choice.holdBack(2, at: start)
        choice.expire(1)
        #expect(choice.choose(token(2), at: start).token.generation == 2)
        #expect(choice.choose(token(3, owner: "other"), at: start).isOtherKey)
        choice.holdBack(3, at: start)
        #expect(choice.choose(token(3, owner: "other"), at: start).token.generation == 3)
    }

    @Test func `a service fault waits Apple's quarter of an hour, or a minute where the message ends before`()
        async throws
    {
        let fake = try FakeAPNs { _, _ in .apns(503, "ServiceUnavailable") }
        let transport = try fake.transport()
        try await running(transport) {
            let results = try await transport.results(of: [.apns(1, remaining: 901), .apns(2, remaining: 900)])
            #expect(
                results.map(\.fate) == [
                    .answered(.retry(.apnsServiceUnavailable, after: .seconds(900))),
                    .answered(.retry(.apnsServiceUnavailable, after: .seconds(60))),
                ])
        }
    }

    @Test func `a job that cannot be rendered is refused and does not leave`() async throws {
        let fake = try FakeAPNs()
        let transport = try fake.transport()
        let long = String(repeating: "x", count: 4096)
        try await running(transport) {
            let results = try await transport.results(of: [.apns(1), .apns(2, values: [long, nil, nil]), .apns(3)])
            #expect(results[1].fate == .answered(.refused(.payloadTooLarge)))
            #expect(results[1].status == nil)
        }
        #expect(fake.received.count == 2)
    }

    @Test func `a request without an answer may have left`() async throws {
        let fake = try FakeAPNs { count, _ in count == 1 ? .stall : .reset(code: 2) }
        let transport = try fake.transport(requestDeadline: .milliseconds(300))
        try await running(transport) {
            let late = try await transport.results(of: [.apns(1)])
            #expect(late.map(\.fate) == [.mayHaveLeft(.timedOut)])
            let reset = try await transport.results(of: [.apns(2)])
            #expect(reset.map(\.fate) == [.mayHaveLeft(.streamReset)])
        }
    }

    @Test func `what a GOAWAY left unprocessed is sent again for nothing`() async throws {
        let fake = try FakeAPNs { count, request in count == 2 ? .goAwayUnprocessed : .taken(request) }
        let transport = try fake.transport()
        try await running(transport) {
            let results = try await transport.results(of: (1...20).map { .apns($0) })
            #expect(results.allSatisfy { $0.status == 200 })
        }
        #expect(Set(fake.received.map(\.connection)).count == 2)
    }

    @Test func `without a token yet nothing leaves and nothing is lost`() async throws {
        let fake = try FakeAPNs()
        let transport = try fake.transport()
        #expect(transport.capacity == 0)
        #expect(try await transport.results(of: [.apns(1)]).map(\.fate) == [.notSent(.apnsProviderTokenAwaited)])
        #expect(fake.received.isEmpty)
        await transport.close(by: .now + .seconds(5))
    }

    @Test func `an endpoint of the credential takes the place of both hosts, unless the file names its own`() throws {
        let credential = try APNsCredential()
        let plain = try APNsKeyReading(path: credential.file).key
        var configuration = APNsConfiguration()
        #expect(try configuration.origin(.production, plain) == HTTP2Origin(host: "api.push.apple.com"))
        #expect(try configuration.origin(.sandbox, plain) == HTTP2Origin(host: "api.sandbox.push.apple.com"))
        configuration.endpoint = "https://localhost:8443"
        #expect(try configuration.origin(.sandbox, plain) == HTTP2Origin(host: "localhost", port: 8443))
        try credential.write(["sandbox_endpoint": "https://localhost:1"])
        let named = try APNsKeyReading(path: credential.file).key
        #expect(try configuration.origin(.sandbox, named) == HTTP2Origin(host: "localhost", port: 1))
        configuration.endpoint = "localhost"
        #expect(throws: APNsEndpointInvalid.self) { try configuration.origin(.production, plain) }
    }
}
