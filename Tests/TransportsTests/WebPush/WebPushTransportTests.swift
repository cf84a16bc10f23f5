import Crypto
import Domain
import Foundation
import HTTP2
import Testing

@testable import Transports

@Suite(.timeLimit(.minutes(1))) struct WebPushTransportTests {
    /// Key files that live as long as the suite's instance.
    private let files: [TemporaryFile]
    private let keys: [WebPushTransport.Key]

    init() throws {
        let vapid = VAPIDVectors.all.vapid
        let files = try [vapid.key.pem, vapid.otherKey.pem].map { try TemporaryFile(Array($0.utf8)) }
        self.files = files
        keys = files.enumerated().map { index, file in
            WebPushTransport.Key(id: .init(Int64(index + 1)), path: file.path, contact: "mailto:push@ferry.example")
        }
    }

    @Test func `a push is delivered, and only the browser can read it`() async throws {
        let service = try FakePushService()
        let transport = try service.transport(keys: keys)
        let address = try FakePushService.address(service.endpoint("a?b=c"))
        let results = try await transport.results(of: [.web(1, address)])
        #expect(results.first?.fate == .answered(.delivered(messageID: "17")))
        #expect(results.first?.status == 201)
        #expect(results.first?.language == "en")
        let request = try #require(service.received.first)
        #expect(request.path == "/push/a?b=c")
        #expect(request.fields["ttl"] == "900")
        #expect(request.fields["urgency"] == "high")
        #expect(request.fields["topic"] == "trip-88")
        #expect(request.fields["content-encoding"] == "aes128gcm")
        #expect(request.fields["authorization"]?.hasPrefix("vapid t=") == true)
        #expect(try FakePushService.open(request.body).contains(#""id":"12-1""#))
        await transport.close(by: .now)
    }

    @Test func `keys in either alphabet of base64 are the browser's`() async throws {
        let service = try FakePushService()
        let transport = try service.transport(keys: keys)
        var address = try FakePushService.address(service.endpoint("a"))
        for text in [\Address.p256dh, \.auth] {
            let urlSafe = try #require(address[keyPath: text])
            address[keyPath: text] = Data(try #require(Base64URL.decode(urlSafe))).base64EncodedString()
        }
        #expect(try await transport.results(of: [.web(1, address)]).first?.status == 201)
        await transport.close(by: .now)
    }

    @Test func `each subscription is signed with the key that it was made for, unknown ones with the newest`()
        async throws
    {
        let service = try FakePushService()
        let transport = try service.transport(keys: keys)
        let named: [Int64?] = [nil, 1, 2, 99]
        let jobs = try named.enumerated().map { index, key in
            let id = key.map { Credential.ID($0) }
            return OutgoingJob.web(
                Int16(index), try FakePushService.address(service.endpoint("\(index)"), vapidKey: id))
        }
        #expect(try await transport.results(of: jobs).allSatisfy { $0.status == 201 })
        let vapid = VAPIDVectors.all.vapid
        let signers = Dictionary(
            uniqueKeysWithValues: service.received.map {
                ($0.path, $0.fields["authorization"]?.components(separatedBy: "k=").last ?? "")
            })
        #expect(
            signers == [
                "/push/0": vapid.key.k, "/push/1": vapid.key.k, "/push/2": vapid.otherKey.k, "/push/3": vapid.key.k,
            ])
        await transport.close(by: .now)
    }

    @Test func `a subscription whose key cannot be read waits for it`() async throws {
        let service = try FakePushService()
        let missing = WebPushTransport.Key(id: .init(3), path: "/nowhere", contact: "mailto:push@ferry.example")
        let transport = try service.transport(keys: keys + [missing])
        let address = try FakePushService.address(service.endpoint("a"), vapidKey: .init(3))
        let results = try await transport.results(of: [.web(1, address)])
        #expect(results.first?.fate == .answered(.retry(.credentialUnusable, after: nil)))
        #expect(service.received.isEmpty)
    }

    @Test func `one token serves all requests to an origin`() async throws {
        let service = try FakePushService()
        let transport = try service.transport(keys: keys)
        let jobs = try (0..<20).map { OutgoingJob.web($0, try FakePushService.address(service.endpoint("\($0)"))) }
        _ = try await transport.results(of: jobs)
        #expect(Set(service.received.map { $0.fields["authorization"] }).count == 1)
        await transport.close(by: .now)
    }

    @Test func `without a collapse key a repeat has the same topic and tag`() async throws {
        let service = try FakePushService()
        let transport = try service.transport(keys: keys)
        let content = ContentVersion(
            id: .init(1), message: ContentVersion.boarding.message, delivery: DeliveryOptions())
        let job = OutgoingJob.web(4, try FakePushService.address(service.endpoint("a")))
        for _ in 0..<2 { _ = try await transport.results(of: [job], content) }
        #expect(service.received.map { $0.fields["topic"] } == ["12-4", "12-4"])
        for request in service.received { #expect(try FakePushService.open(request.body).contains(#""tag":"12-4""#)) }
        await transport.close(by: .now)
    }

    @Test(
        arguments: [
            (.other, 0, "0"), (.apple, 0, "1"), (.wns, 0, "1"), (.fcm, 5, "5"), (.other, 99_999_999, "2419200"),
            (.mozilla, -3, "0"),
        ] as [(WebPushService, Int64, String)])
    func `what is left of a message's life goes out`(kind: WebPushService, remaining: Int64, ttl: String) async throws {
        let service = try FakePushService()
        let transport = try service.transport(service: kind, keys: keys)
        let address = try FakePushService.address(service.endpoint("a"))
        _ = try await transport.results(of: [.web(1, address, remaining: remaining)])
        #expect(service.received.first?.fields["ttl"] == ttl)
        #expect((service.received.first?.fields["x-wns-cache-policy"] == "cache") == (kind == .wns))
        await transport.close(by: .now)
    }

    @Test func `a redirect is not followed`() async throws {
        let target = try FakePushService()
        let service = try FakePushService { [port = target.port] _, _ in
            .status(307, [("location", "https://127.0.0.1:\(port)/push/b")])
        }
        let transport = try service.transport(keys: keys)
        let results = try await transport.results(of: [.web(1, try FakePushService.address(service.endpoint("a")))])
        #expect(results.first?.fate == .answered(.refused(.webpushRedirected)))
        #expect(target.received.isEmpty)
        await transport.close(by: .now)
    }

    @Test func `an endless answer is read a few KiB far`() async throws {
        let service = try FakePushService { _, _ in .status(400, [], String(repeating: "A", count: 10 << 20)) }
        let transport = try service.transport(keys: keys)
        let results = try await transport.results(of: [.web(1, try FakePushService.address(service.endpoint("a")))])
        #expect(results.first?.fate == .answered(.refused(.webpushBadRequest)))
        await transport.close(by: .now)
    }

    @Test func `an endpoint that leads to a private address gets nothing`() async throws {
        let service = try FakePushService()
        let transport = try service.transport(keys: keys) {
            $0.endpoints = EndpointPolicy(hosts: ["localhost"], allowsPrivate: true)
            $0.privateNetworks = []
        }
        let jobs = try ["localhost", "127.0.0.1"].enumerated().map { index, host in
            OutgoingJob.web(Int16(index), try FakePushService.address(service.endpoint("a", host: host)))
        }
        for result in try await transport.results(of: jobs) {
            #expect(result.fate == .answered(.refused(.webpushEndpointRefused)))
            #expect(result.status == nil)
        }
        #expect(service.received.isEmpty)
        await transport.close(by: .now)
    }

    /// A name server's word about a browser's own service is waited out; a stranger's host may be anything.
    @Test(arguments: [
        (WebPushService.fcm, SendResult.Fate.notSent(.notSent)), (.other, .answered(.refused(.webpushEndpointRefused))),
    ])
    func `a name that leads to a private address fails a stranger's job alone`(
        service: WebPushService, fate: SendResult.Fate
    ) {
        let message = WebPushMessageCompiler(.boarding, options: WebPushOptions()).compile()
        let id = WebPushRequestID(ticket: Ticket(batch: 1, ordinal: 0), body: 0)
        let unsent = HTTP2Result(id: id.rawValue, outcome: .notSent(.addressRefused), begunAt: nil, endedAt: .now)
        #expect(WebPushResults(message: message, service: service).convert([unsent]).map(\.fate) == [fate])
    }

    @Test func `an endpoint that is not allowed, or any more, gets nothing`() async throws {
        let service = try FakePushService()
        let transport = try service.transport(keys: keys) { $0.endpoints = EndpointPolicy() }
        for endpoint in [service.endpoint("a"), "https://push.example.net/a", "http://fcm.googleapis.com/a", ""] {
            let results = try await transport.results(of: [.web(1, try FakePushService.address(endpoint))])
            #expect(results.first?.fate == .answered(.refused(.webpushEndpointRefused)))
        }
        #expect(service.received.isEmpty)
    }

    @Test func `keys that nothing can be sealed for refuse their own job alone`() async throws {
        let service = try FakePushService()
        let transport = try service.transport(keys: keys)
        let good = try FakePushService.address(service.endpoint("a"))
        var offCurve = good
        offCurve.p256dh = Base64URL.encode([4] + [UInt8](repeating: 1, count: 64))
        var short = good
        short.auth = "AAAA"
        var none = good
        none.p256dh = nil
        let results = try await transport.results(of: [.web(0, offCurve), .web(1, short), .web(2, none), .web(3, good)])
        for result in results.prefix(3) { #expect(result.fate == .answered(.refused(.webpushKeysInvalid))) }
        #expect(results[3].status == 201)
        await transport.close(by: .now)
    }

    @Test func `hosts are bounded, and the one used longest ago makes room`() async throws {
        let services = try (0..<3).map { _ in try FakePushService() }
        let transport = try FakePushService.shared(services, keys: keys) { $0.maximumOrigins = 2 }
        for round in 0..<2 {
            for service in services {
                let address = try FakePushService.address(service.endpoint("\(round)"))
                #expect(try await transport.results(of: [.web(1, address)]).first?.status == 201)
            }
        }
        #expect(services.map(\.received.count) == [2, 2, 2])
        await transport.close(by: .now)
    }

    @Test func `while all hosts are busy another one waits its turn`() async throws {
        let busy = try FakePushService { _, _ in .stall }
        let other = try FakePushService()
        let transport = try FakePushService.shared([busy, other], keys: keys) {
            $0.maximumOrigins = 1
            $0.requestDeadline = .seconds(2)
        }
        async let stalled = transport.results(of: [.web(1, try FakePushService.address(busy.endpoint("a")))])
        while busy.received.isEmpty { await Task.yield() }
        let results = try await transport.results(of: [.web(2, try FakePushService.address(other.endpoint("b")))])
        #expect(results.first?.fate == .answered(.retry(.webpushCrowded, after: nil)))
        #expect(try await stalled.first?.fate == .mayHaveLeft(.timedOut))
        await transport.close(by: .now)
    }

    @Test func `a silent message is skipped`() async throws {
        let service = try FakePushService()
        let transport = try service.transport(keys: keys)
        let silent = ContentVersion(
            id: .init(1),
            message: Message(
                variants: [], defaultVariant: 0, presentation: Presentation(),
                data: [.init(key: "op", value: "refresh")], silent: true),
            delivery: DeliveryOptions())
        let job = OutgoingJob.web(1, try FakePushService.address(service.endpoint("a")))
        let result = try #require(try await transport.results(of: [job], silent).first)
        guard case .record(let ruling) = Verdict(result) else { return #expect(Bool(false), "it is not begun again") }
        #expect(ruling.outcome == .skipped)
        #expect(ruling.reason == .webSilent)
        #expect(!ruling.charged)
        #expect(service.received.isEmpty)
    }

    @Test func `a changed key file signs from the next look on`() async throws {
        let service = try FakePushService()
        let vapid = VAPIDVectors.all.vapid
        let file = try TemporaryFile(Array(vapid.key.pem.utf8))
        let ring = try VAPIDKeyring(
            newest: .init(id: .init(1), path: file.path, contact: "mailto:push@ferry.example"), others: [])
        try file.write(Array(vapid.otherKey.pem.utf8))
        ring.reload()
        #expect(ring.entry(for: nil)?.entry.key.publicKey == vapid.otherKey.k)
        try file.write(Array("no key".utf8))
        ring.reload()
        #expect(ring.entry(for: nil)?.entry.key.publicKey == vapid.otherKey.k, "the last good one stays")
        #expect(service.received.isEmpty)
    }
}
