import Logging
import PlainHTTP
import Testing

@Suite(.timeLimit(.minutes(1))) struct HTTPClientFaultTests {
    private let logger = Logger(label: "test")

    private func code(_ url: String, timeout: Duration = .seconds(20)) async -> HTTPClientError.Code? {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.body = Array("secret=1".utf8)
        do throws(HTTPClientError) {
            _ = try await HTTPClient().execute(request, timeout: timeout, logger: logger)
            return nil
        } catch { return error.code }
    }

    @Test(arguments: ["", "no url at all", "http://127.0.0.1:1/", "file:///etc/passwd", "ftp://127.0.0.1/", "https://"])
    func `only https is spoken`(url: String) async {
        #expect(await code(url) == .invalidURL)
    }

    @Test func `a port where nobody listens is a failed connect`() async throws {
        let port = try DeafListener().port  // closed again by now
        #expect(await code("https://127.0.0.1:\(port)/") == .connectFailed)
    }

    @Test func `a server that says nothing is given up at the deadline`() async throws {
        let listener = try DeafListener()
        let begun = ContinuousClock.now
        #expect(await code("https://127.0.0.1:\(listener.port)/", timeout: .milliseconds(200)) == .timedOut)
        #expect(ContinuousClock.now - begun < .seconds(10))
    }

    @Test func `a cancelled task gets its error soon`() async throws {
        let listener = try DeafListener()
        await withTaskGroup { group in
            group.addTask { #expect(await self.code("https://127.0.0.1:\(listener.port)/") == .cancelled) }
            group.cancelAll()
        }
    }

    @Test func `printing a request or an answer shows no secret`() {
        var request = HTTPClientRequest(url: "https://host.example/secret")
        request.headers.add(name: "authorization", value: "secret")
        request.body = Array("secret".utf8)
        let response = HTTPClientResponse(status: 200, headers: request.headers, body: Array("secret".utf8))
        var dumped = ""
        dump(request, to: &dumped)
        dump(response, to: &dumped)
        #expect(!"\(request) \(response) \(dumped)".contains("secret"))
        #expect(!dumped.contains("115"), "the letter s as a number")
    }
}
