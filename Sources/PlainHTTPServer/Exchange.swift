import CMicrohttpd
import Threading

/// One request on its way through the library: first its headers, then its body in pieces, then its answer.
final class Exchange: Sendable {
    private struct State {
        var body: [UInt8] = []
        var isTooLarge = false
        var isHandedOver = false
        var response: HTTPServerResponse?
        var wholeAt = ContinuousClock.now
    }

    /// The library's, valid until the answer is queued; touched on its own thread and by the one resume.
    private let connection: Connection
    private let method: String
    /// nil = none that could be told in UTF-8 without a NUL.
    private let path: String?
    private let headers: [String: String]
    private let bodyLimit: Int
    private let state = Locked(State())

    struct Connection: @unchecked Sendable { let pointer: OpaquePointer }

    init(connection: OpaquePointer, method: String, path: String?, headers: [String: String], bodyLimit: Int) {
        self.connection = Connection(pointer: connection)
        self.method = method
        self.path = path
        self.headers = headers
        self.bodyLimit = bodyLimit
    }

    var request: HTTPServerRequest {
        HTTPServerRequest(method: method, path: path ?? "", headers: headers, body: state.withLock { $0.body })
    }

    /// When its body was complete.
    var wholeAt: ContinuousClock.Instant { state.withLock { $0.wholeAt } }

    /// Takes a piece of the body. What is beyond the limit is dropped, and the request answered 413.
    func append(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { state in
            if state.body.count + bytes.count > bodyLimit {
                state.isTooLarge = true
                state.body = []
            } else if !state.isTooLarge {
                state.body.append(contentsOf: bytes)
            }
        }
    }

    /// The body is complete. The answer if it is known already, else the connection waits for `answer`.
    func complete(_ handOver: (Exchange) -> Bool) -> HTTPServerResponse? {
        let known = state.withLock { state -> HTTPServerResponse? in
            if state.isTooLarge { return HTTPServerResponse(status: 413, text: "body too large\n") }
            if path == nil { return HTTPServerResponse(status: 400, text: "the path holds a NUL or is no UTF-8\n") }
            if let response = state.response { return response }
            if state.isHandedOver { return nil }
            state.isHandedOver = true
            state.wholeAt = .now
            // Before it is handed over, so that the answer finds it suspended.
            MHD_suspend_connection(connection.pointer)
            return nil
        }
        if known == nil, !handOver(self) { answer(HTTPServerResponse(status: 503, text: "ending\n")) }
        return known
    }

    /// Keeps the answer and lets the library's thread send it.
    func answer(_ response: HTTPServerResponse) {
        let isFirst = state.withLock { state in
            defer { if state.response == nil { state.response = response } }
            return state.response == nil
        }
        if isFirst { MHD_resume_connection(connection.pointer) }
    }
}
