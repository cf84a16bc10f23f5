import CNghttp2

/// What libnghttp2 calls for a server's connection: on the server's thread, from within a call of ours. The connection
/// is passed unretained; it owns the session, and so outlives it.
final class ServerCallbacks {
    let pointer: OpaquePointer

    init() {
        var created: OpaquePointer?
        let code = nghttp2_session_callbacks_new(&created)
        guard code == 0, let created else { preconditionFailure("out of memory for HTTP/2 callbacks") }
        pointer = created
        watchRequests()
        watchEnds()
    }

    deinit { nghttp2_session_callbacks_del(pointer) }

    private func watchRequests() {
        nghttp2_session_callbacks_set_on_begin_headers_callback(pointer) { _, frame, context in
            let connection = connection(context)
            let stream = frame!.pointee.hd.stream_id
            // Trailers begin headers too.
            if connection.number(of: stream) == nil { connection.openStream(stream) }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(pointer) {
            _, frame, name, nameCount, value, valueCount, _, context in
            let connection = connection(context)
            guard let number = connection.number(of: frame!.pointee.hd.stream_id) else { return 0 }
            connection.streams[number].request.append(
                name: UnsafeBufferPointer(start: name, count: nameCount),
                value: UnsafeBufferPointer(start: value, count: valueCount))
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(pointer) { _, _, stream, bytes, count, context in
            let connection = connection(context)
            guard let number = connection.number(of: stream) else { return 0 }
            let room = connection.maxBody - connection.streams[number].request.body.count
            let part = UnsafeBufferPointer(start: bytes, count: min(count, room))
            connection.streams[number].request.body.append(contentsOf: part)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(pointer) { _, frame, context in
            let header = frame!.pointee.hd
            let isRequest = header.type == NGHTTP2_HEADERS.rawValue || header.type == NGHTTP2_DATA.rawValue
            guard isRequest, header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return 0 }
            let connection = connection(context)
            guard let number = connection.number(of: header.stream_id) else { return 0 }
            connection.handle(number)
            // A connection that is to end takes no more requests, not even those that were read already.
            return connection.end == nil ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
        }
    }

    private func watchEnds() {
        nghttp2_session_callbacks_set_on_stream_close_callback(pointer) { _, stream, _, context in
            let connection = connection(context)
            if let number = connection.number(of: stream) { connection.closeStream(number) }
            return 0
        }
    }
}

private func connection(_ context: UnsafeMutableRawPointer?) -> ServerConnection {
    Unmanaged.fromOpaque(context!).takeUnretainedValue()
}

extension HTTP2ServerRequest {
    fileprivate mutating func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let start = head.count
        head.append(contentsOf: name)
        let middle = head.count
        head.append(contentsOf: value)
        spans.append(Span(name: start..<middle, value: middle..<head.count))
    }
}
