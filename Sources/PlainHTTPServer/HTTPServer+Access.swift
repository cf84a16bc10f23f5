import CMicrohttpd

/// What the library's callback knows of the server.
final class Intake: Sendable {
    let bodyLimit: Int
    let continuation: AsyncStream<Exchange>.Continuation
    let callers = Callers()

    init(bodyLimit: Int, continuation: AsyncStream<Exchange>.Continuation) {
        self.bodyLimit = bodyLimit
        self.continuation = continuation
    }
}

extension HTTPServer {
    /// Called once with the headers, then with pieces of the body, then without any to answer, and again after a resume
    /// (libmicrohttpd manual, `MHD_AccessHandlerCallback`). The exchange is kept by the request's pointer until it is over.
    static let access: MHD_AccessHandlerCallback = { context, connection, url, method, _, upload, uploadSize, slot in
        guard let context, let connection, let url, let method, let uploadSize, let slot else { return .NO }
        let intake = Unmanaged<Intake>.fromOpaque(context).takeUnretainedValue()
        guard let kept = slot.pointee else {
            let exchange = Exchange(
                connection: connection, method: String(cString: method), path: HTTPServerRequest.path(decoding: url),
                headers: headers(of: connection), bodyLimit: intake.bodyLimit)
            slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
            return .YES
        }
        let exchange = Unmanaged<Exchange>.fromOpaque(kept).takeUnretainedValue()
        if uploadSize.pointee > 0 {
            exchange.append(UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee))
            uploadSize.pointee = 0
            return .YES
        }
        guard
            let response = exchange.complete({ exchange in
                intake.callers.isWhole(connection)
                if case .enqueued = intake.continuation.yield(exchange) { return true }
                return false
            })
        else { return .YES }
        return queue(response, on: connection)
    }

    /// The request is over, answered or not.
    static let completed: MHD_RequestCompletedCallback = { context, connection, slot, _ in
        if let context, let connection {
            Unmanaged<Intake>.fromOpaque(context).takeUnretainedValue().callers.isAnswered(connection)
        }
        guard let kept = slot?.pointee else { return }
        Unmanaged<Exchange>.fromOpaque(kept).release()
        slot?.pointee = nil
    }

    /// A connection is there, or about to be closed.
    static let connected: MHD_NotifyConnectionCallback = { context, connection, _, what in
        guard let context, let connection else { return }
        let callers = Unmanaged<Intake>.fromOpaque(context).takeUnretainedValue().callers
        if what == .CONNECTION_NOTIFY_STARTED { callers.came(connection) } else { callers.left(connection) }
    }

    private static func queue(_ response: HTTPServerResponse, on connection: OpaquePointer) -> MHD_Result {
        var body = response.body
        guard
            let made = body.withUnsafeMutableBytes({ bytes in
                MHD_create_response_from_buffer(bytes.count, bytes.baseAddress, .RESPMEM_MUST_COPY)
            })
        else { return .NO }
        defer { MHD_destroy_response(made) }
        for (name, value) in response.headers { _ = MHD_add_response_header(made, name, value) }
        return MHD_queue_response(connection, response.status, made)
    }

    private static func headers(of connection: OpaquePointer) -> [String: String] {
        var headers: [String: String] = [:]
        withUnsafeMutablePointer(to: &headers) { pointer in
            _ = MHD_get_connection_values(
                connection, .HEADER_KIND,
                { context, _, name, value in
                    guard let context, let name, let value else { return .YES }
                    let headers = context.assumingMemoryBound(to: [String: String].self)
                    headers.pointee[String(cString: name).lowercased()] = String(cString: value)
                    return .YES
                }, pointer)
        }
        return headers
    }
}
