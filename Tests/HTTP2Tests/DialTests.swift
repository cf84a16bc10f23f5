import Glibc
import Testing

@testable import HTTP2

@Suite(.timeLimit(.minutes(1))) struct DialTests {
    @Test func `a silent address does not hold up the next one`() throws {
        let silent = try FullListener()
        let server = try HTTP2Server.forTest { _ in .ok }
        let addresses = [silent.port, server.port].flatMap {
            SocketAddress.resolve("127.0.0.1", port: $0, numeric: true)
        }
        let poll = EventPoll()
        let dial = Dial(giveUpAt: .now + .seconds(10), poll: poll)
        dial.begin(with: addresses)
        var lastToken: UInt64 = 0
        func token() -> UInt64 {
            lastToken += 1
            return lastToken
        }
        dial.startNext(token: token, again: .milliseconds(20), now: .now)
        var connected: Dial.Attempt?
        while connected == nil, ContinuousClock.now < dial.giveUpAt {
            let count = poll.wait(until: dial.nextAttemptAt ?? dial.giveUpAt)
            for index in 0..<count { connected = dial.finish(poll[index].token) ?? connected }
            if count == 0 { dial.startNext(token: token, again: .milliseconds(20), now: .now) }
        }
        #expect(connected?.address.port == server.port)
        #expect(connected?.token == 2)
        if let connected { close(connected.file) }
    }

    @Test func `the families of addresses take turns, and connections spread within each`() {
        func resolve(_ texts: [String]) -> [SocketAddress] {
            texts.flatMap { SocketAddress.resolve($0, port: 1, numeric: true) }
        }
        let all = resolve(["2001:db8::1", "2001:db8::2", "192.0.2.1", "192.0.2.2", "192.0.2.3"])
        let plain = AddressOrder.arrange(all, used: [], turn: 0)
        #expect(plain.map(\.bytes) == [all[0], all[2], all[1], all[3], all[4]].map(\.bytes))
        let rotated = AddressOrder.arrange(all, used: [], turn: 1)
        #expect(rotated.map(\.bytes) == [all[1], all[3], all[0], all[4], all[2]].map(\.bytes))
        let used = AddressOrder.arrange(all, used: [all[0], all[2], all[3]], turn: 0)
        #expect(used.map(\.bytes) == [all[1], all[4], all[0], all[2], all[3]].map(\.bytes))
        #expect(AddressOrder.arrange([], used: [], turn: 3).isEmpty)
    }

    @Test(arguments: [
        ("8.8.8.8", true), ("10.1.2.3", false), ("100.64.0.1", false), ("100.128.0.1", true), ("127.0.0.1", false),
        ("169.254.169.254", false), ("172.15.0.1", true), ("172.16.0.1", false), ("172.31.255.255", false),
        ("172.32.0.1", true), ("192.168.1.1", false), ("198.18.0.1", false), ("198.20.0.1", true),
        ("224.0.0.1", false), ("255.255.255.255", false), ("0.0.0.0", false), ("2607:f8b0::1", true), ("::1", false),
        ("::", false), ("fe80::1", false), ("fc00::1", false), ("2001:db8::1", false), ("2001::1", false),
        ("::ffff:8.8.8.8", false), ("64:ff9b::8.8.8.8", true), ("64:ff9b::10.0.0.1", false),
        ("2002:a00:1::1", false), ("2002:808:808::1", true), ("ff02::1", false), ("3fff:0::1", false),
    ])
    func `only addresses of the public Internet are public`(address: String, isPublic: Bool) throws {
        let resolved = SocketAddress.resolve(address, port: 443, numeric: true)
        #expect(try #require(resolved.first).isPublic == isPublic)
    }

    @Test func `the wait before reconnecting doubles up to the maximum, less up to a half`() {
        var delay = ReconnectDelay(first: .seconds(1), longest: .seconds(60))
        let now = ContinuousClock.now
        #expect(delay.allows(now))
        for (failure, seconds) in [1, 2, 4, 8, 16, 32, 60, 60].enumerated() {
            delay.fail(at: now, draw: 0)
            #expect(delay.notBefore == now + .seconds(seconds))
            #expect(delay.failures == failure + 1)
        }
        delay.fail(at: now, draw: 1)
        #expect(delay.notBefore == now + .seconds(30))
        #expect(!delay.allows(now + .seconds(29)))
        #expect(delay.allows(now + .seconds(30)))
        delay.succeed()
        #expect(delay.allows(now))
    }
}

/// Listens with a full backlog, so that further connections get no answer at all.
private final class FullListener {
    let port: UInt16
    private let file: Int32
    private var waiting: [Int32] = []

    init() throws {
        file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        port = try bindToLoopback(file)
        #expect(listen(file, 0) == 0)
        waiting.append(connectToLoopback(port: port))  // a backlog of 0 holds one (listen(2))
    }

    deinit { for file in waiting + [file] { close(file) } }
}
