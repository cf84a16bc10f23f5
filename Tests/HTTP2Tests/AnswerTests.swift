import HTTP2
import Testing

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
}
