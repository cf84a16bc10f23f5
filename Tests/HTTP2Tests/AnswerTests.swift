import HTTP2
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct AnswerTests {
    @Test func `an answer comes back with its status, its retained fields and its body`() async throws {
        let exchange = try Exchange { request in
            let response = HTTP2ServerResponse(
                status: 429, fields: [("retry-after", "7"), ("x-other", "dropped")], body: Array("slow down".utf8))
            return request.method == "POST" ? .respond(response) : .reset(code: 1)
        }
        let results = await exchange.results(of: 3)
        #expect(results.map(\.id).sorted() == [0, 1, 2])
        for result in results {
            guard case .answered(let response) = result.outcome else {
                Issue.record("not answered: \(result.outcome)")
                continue
            }
            #expect(response.status == 429)
            #expect(response.field("retry-after") == "7")
            #expect(response.field("x-other") == nil)
            #expect(response.body == Array("slow down".utf8))
            #expect(result.begunAt.map { $0 <= result.endedAt } == true)
        }
        await exchange.end()
    }

    @Test func `the server gets exactly what was submitted`() async throws {
        let seen = Locked<[HTTP2ServerRequest]>([])
        let exchange = try Exchange { request in
            seen.withLock { $0.append(request) }
            return .ok
        }
        let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let request = HTTP2Request(
            id: 1, path: Array("/a?b=c".utf8), fields: [HTTP2Field("apns-id", "an-id"), HTTP2Field("ttl", "0")],
            body: body)
        exchange.client.submit(
            [request], shared: Exchange.shared, beginBefore: .now + .seconds(10), deadline: .seconds(10),
            sink: exchange.collector.sink)
        #expect(await exchange.collector.wait(for: 1).first?.status == 200)
        let received = try #require(seen.withLock { $0.first })
        #expect(received.method == "POST")
        #expect(received.text(":path") == "/a?b=c")
        #expect(received.text(":scheme") == "https")
        #expect(received.text(":authority") == "localhost:\(exchange.server.port)")
        #expect(received.text("apns-id") == "an-id")
        #expect(received.text("ttl") == "0")
        #expect(received.text("authorization") == "bearer abc")
        #expect(received.body == body)
        await exchange.end()
    }

    @Test func `thousands of answers without a body do not wear a connection out`() async throws {
        let exchange = try Exchange(client: { $0.maxConnections = 1 }) { _ in
            .respond(HTTP2ServerResponse(status: 200))
        }
        let results = await exchange.results(of: 3000)
        #expect(results.count { $0.status == 200 } == 3000)
        #expect(exchange.server.statistics.acceptedConnections == 1)
        await exchange.end()
    }

    @Test func `a long body is cut, and does not block the connection`() async throws {
        let long = [UInt8](repeating: 7, count: 3_000_000)
        let exchange = try Exchange(client: { $0.maxBody = 1000 }) { _ in
            .respond(HTTP2ServerResponse(status: 500, body: long))
        }
        for result in await exchange.results(of: 2) {
            guard case .answered(let response) = result.outcome else {
                Issue.record("not answered: \(result.outcome)")
                continue
            }
            #expect(response.body == [UInt8](repeating: 7, count: 1000))
        }
        await exchange.end()
    }

    @Test(arguments: ["127.0.0.1", "::1"]) func `an address in text serves as host`(host: String) async throws {
        let exchange = try Exchange(host: host, server: { $0.host = host }) { _ in .ok }
        #expect(await exchange.results(of: 1).first?.status == 200)
        await exchange.end()
    }
}
