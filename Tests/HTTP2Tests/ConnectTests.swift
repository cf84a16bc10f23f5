import Glibc
import HTTP2
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct ConnectTests {
    /// Sends one request where no connection can be made, and expects that nothing was sent.
    private static func expectConnectFailed(_ exchange: Exchange) async {
        let results = await exchange.results(of: 2, beginWithin: .seconds(1))
        #expect(results.map { $0.notSent } == [.connectFailed, .connectFailed])
        #expect(exchange.server.statistics.requests == 0)
        #expect(exchange.client.statistics.connectionsFailed > 0)
        await exchange.end()
    }

    @Test func `without a server, requests end as not sent when their time is over`() async throws {
        let exchange = try Exchange { _ in .ok }
        exchange.server.stop()
        let start = ContinuousClock.now
        await Self.expectConnectFailed(exchange)
        #expect(ContinuousClock.now - start >= .seconds(1))
    }

    @Test func `a certificate for another host is refused`() async throws {
        let other = TestCertificate(hosts: ["elsewhere.test"], addresses: ["127.0.0.2"])
        for host in ["localhost", "127.0.0.1"] {
            let exchange = try Exchange(
                host: host,
                server: { server in
                    server.certificateFile = other.certificateFile
                    server.keyFile = other.keyFile
                }, client: { $0.trust = .file(other.authorityFile) }
            ) { _ in .ok }
            await Self.expectConnectFailed(exchange)
        }
    }

    @Test func `a certificate of an unknown authority is refused`() async throws {
        let other = TestCertificate()
        await Self.expectConnectFailed(try Exchange(client: { $0.trust = .file(other.authorityFile) }) { _ in .ok })
        await Self.expectConnectFailed(try Exchange(client: { $0.trust = .system }) { _ in .ok })
    }

    @Test func `authorities that were replaced are read again when a certificate is not accepted`() async throws {
        let other = TestCertificate()
        let exchange = try Exchange(client: { $0.trust = .file(other.authorityFile) }) { _ in .ok }
        exchange.submit(1)
        let limit = ContinuousClock.now + .seconds(10)
        let wakeup = Wakeup()
        while exchange.client.statistics.connectionsFailed == 0, ContinuousClock.now < limit {
            await wakeup.wait(until: .now + .milliseconds(5))
        }
        #expect(rename(TestCertificate.shared.copyOfAuthority(), other.authorityFile) == 0)
        #expect(await exchange.collector.wait(for: 1).first?.status == 200)
        await exchange.end()
    }

    @Test func `without readable authorities nothing is sent`() async throws {
        await Self.expectConnectFailed(try Exchange(client: { $0.trust = .file("/nowhere") }) { _ in .ok })
    }

    @Test func `a server that does not choose HTTP/2 gets nothing`() async throws {
        await Self.expectConnectFailed(try Exchange(server: { $0.offersHTTP2 = false }) { _ in .ok })
    }

    @Test func `a private address is not connected to when only public ones are allowed`() async throws {
        for host in ["127.0.0.1", "localhost"] {
            let exchange = try Exchange(host: host, client: { $0.addresses = .publicOnly() }) { _ in .ok }
            exchange.submit(1)
            #expect(await exchange.collector.wait(for: 1).first?.notSent == .addressRefused)
            #expect(exchange.server.statistics.acceptedConnections == 0)
            await exchange.end()
        }
    }

    @Test func `a private address is connected to when its network is named`() async throws {
        let networks = ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) }
        for host in ["127.0.0.1", "localhost"] {
            let exchange = try Exchange(host: host, client: { $0.addresses = .publicOnly(besides: networks) }) { _ in
                .ok
            }
            exchange.submit(1)
            #expect(await exchange.collector.wait(for: 1).first?.status == 200)
            await exchange.end()
        }
    }

    @Test func `a network is an address and a number of bits that it has`() {
        #expect(networksRead(["10.0.0.0/8", "0.0.0.0/0", "fd00::/8", "::1/128", "127.0.0.1"]) == 5)
        #expect(networksRead(["10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "::/129", "localhost", "", "/8"]) == 0)
    }

    private func networksRead(_ texts: [String]) -> Int { texts.compactMap { AddressRange($0) }.count }

    @Test func `requests wait for a server that comes up`() async throws {
        let exchange = try Exchange { _ in .ok }
        exchange.server.stop()
        exchange.submit(10)
        let limit = ContinuousClock.now + .seconds(10)
        let wakeup = Wakeup()
        while exchange.client.statistics.connectionsFailed == 0, ContinuousClock.now < limit {
            await wakeup.wait(until: .now + .milliseconds(5))
        }
        let later = try HTTP2Server.forTest({ $0.port = exchange.server.port }) { _ in .ok }
        later.start()
        #expect(await exchange.collector.wait(for: 10).count { $0.status == 200 } == 10)
        await exchange.client.close(by: .now)
        later.stop()
    }

    @Test func `a server that accepts and says nothing does not hold a request for ever`() async throws {
        let mute = try MuteListener()
        let client = HTTP2Client.forTest(host: "127.0.0.1", port: mute.port) {
            $0.connectTimeout = .milliseconds(100)
        }
        let collector = Collector()
        client.submit(
            [.numbered(1)], shared: Exchange.shared, beginBefore: .now + .milliseconds(300), deadline: .seconds(9),
            sink: collector.sink)
        #expect(await collector.wait(for: 1).first?.notSent == .connectFailed)
        await client.close(by: .now)
    }
}

/// Completes TCP handshakes, as the kernel does for it, and never reads.
final class MuteListener: Sendable {
    private let file: Int32
    let port: UInt16

    init() throws {
        file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        port = try bindToLoopback(file)
        #expect(listen(file, 16) == 0)
    }

    deinit { close(file) }
}
