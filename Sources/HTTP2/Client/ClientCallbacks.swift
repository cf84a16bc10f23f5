import CNghttp2

/// What libnghttp2 calls for a client's connection: on the client's thread, from within a call of ours. The connection
/// is passed unretained; it owns the session, and so outlives it.
final class ClientCallbacks {
    let pointer: OpaquePointer

    init() {
        var created: OpaquePointer?
        let code = nghttp2_session_callbacks_new(&created)
        guard code == 0, let created else { preconditionFailure("out of memory for HTTP/2 callbacks") }
        pointer = created
        watchResponses()
        watchFrames()
    }

    deinit { nghttp2_session_callbacks_del(pointer) }

    private func watchResponses() {
        nghttp2_session_callbacks_set_on_header_callback(pointer) {
            session, frame, name, nameCount, value, valueCount, _, context in
            guard let stream = stream(session, frame!.pointee.hd.stream_id), let name, let value else { return 0 }
            if nameCount == 7, name[0] == UInt8(ascii: ":") {  // ":status", the only one of a response, three digits
                stream.pointee.status = UnsafeBufferPointer(start: value, count: valueCount).reduce(0) {
                    $0 * 10 + Int($1) - 48
                }
                stream.pointee.fields.removeAll()  // an interim response (1xx) came before
                return 0
            }
            guard let kept = connection(context).retained.match(name, nameCount) else { return 0 }
            for field in stream.pointee.fields where field.name == kept { return 0 }
            let bytes = UnsafeBufferPointer(start: value, count: min(valueCount, RetainedFields.maxValue))
            stream.pointee.fields.append(HTTP2Response.Field(name: kept, value: Array(bytes)))
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(pointer) { session, _, id, bytes, count, context in
            guard let stream = stream(session, id), !stream.pointee.isSettled else { return 0 }
            let room = connection(context).maxBody - stream.pointee.body.count
            let part = UnsafeBufferPointer(start: bytes, count: min(count, room))
            stream.pointee.body.append(contentsOf: part)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(pointer) { session, id, error, context in
            if let stream = stream(session, id) { connection(context).finish(stream, error: error) }
            return 0
        }
    }

    private func watchFrames() {
        nghttp2_session_callbacks_set_before_frame_send_callback(pointer) { session, frame, context in
            guard frame!.pointee.hd.type == NGHTTP2_HEADERS.rawValue else { return 0 }
            let connection = connection(context)
            // All frames before this one were taken: the next byte that the session gives us is its first.
            stream(session, frame!.pointee.hd.stream_id)?.pointee.headersAt = connection.channel.packed
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(pointer) { session, frame, context in
            let header = frame!.pointee.hd
            switch nghttp2_frame_type(UInt32(header.type)) {
            case NGHTTP2_HEADERS, NGHTTP2_DATA:
                if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
                    stream(session, header.stream_id)?.pointee.hasEnded = true
                }
            case NGHTTP2_SETTINGS: connection(context).readSettings(isAnswer: header.isAnswer)
            case NGHTTP2_PING: if header.isAnswer { connection(context).pingDeadline = nil }
            case NGHTTP2_GOAWAY: connection(context).goAway()
            default: break
            }
            return 0
        }
    }
}

extension nghttp2_frame_hd {
    fileprivate var isAnswer: Bool { flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 }
}

extension ClientConnection {
    fileprivate func readSettings(isAnswer: Bool) {
        guard !isAnswer else { return }
        let limit = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        serverLimit = Int(limit)
        guard phase == .awaitingSettings else { return }
        phase = .open
        idleSince = clock.now
    }

    /// libnghttp2 closes the streams that the GOAWAY does not accept, once this returned.
    fileprivate func goAway() {
        wentAway = true
        retire()
    }
}

private func connection(_ context: UnsafeMutableRawPointer?) -> ClientConnection {
    Unmanaged.fromOpaque(context!).takeUnretainedValue()
}

private func stream(_ session: OpaquePointer?, _ id: Int32) -> UnsafeMutablePointer<ClientStream>? {
    nghttp2_session_get_stream_user_data(session, id)?.assumingMemoryBound(to: ClientStream.self)
}
