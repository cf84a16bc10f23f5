import CNghttp2
import Glibc

extension ClientConnection {
    /// Begins a request. There must be room.
    func begin(_ queued: QueuedRequest) {
        guard let stream = takeStream() else { return queue.putBack(queued, .connectionLost) }
        var queued = queued
        queued.sends += 1
        queued.begunAt = clock.now
        let deadline = clock.now + queued.submission.deadline
        stream.pointee.begin(queued, deadline: deadline)
        nextDeadline = nextDeadline.map { min($0, deadline) } ?? deadline
        let id = submit(queued, stream)
        guard id > 0 else {
            giveBack(stream)
            // Out of stream numbers or of memory: this connection is of no use, another one may be.
            retire()
            return queue.putBack(queued, .connectionLost)
        }
        stream.pointee.id = id
        needsFlush = true
    }

    private func submit(_ queued: QueuedRequest, _ stream: UnsafeMutablePointer<ClientStream>) -> Int32 {
        let request = queued.request
        let (entries, count) = head.assemble(request, shared: queued.submission.shared.storage)
        guard !request.body.isEmpty else {
            return nghttp2_submit_request(session, nil, entries, count, nil, stream)
        }
        var provider = nghttp2_data_provider()
        provider.source.ptr = UnsafeMutableRawPointer(stream)
        provider.read_callback = readBody
        return nghttp2_submit_request(session, nil, entries, count, &provider, stream)
    }

    /// Asks the server for a sign of life, after a long silence.
    func ping(answerBy deadline: ContinuousClock.Instant) {
        pingDeadline = deadline
        nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
        needsFlush = true
    }
}

/// Copies the next part of a request's body into a DATA frame.
private let readBody: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, _ in
    let stream = source!.pointee.ptr.assumingMemoryBound(to: ClientStream.self)
    guard let body = stream.pointee.queued?.request.body else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
    let sent = stream.pointee.bodySent
    let count = min(length, body.count - sent)
    body.withUnsafeBufferPointer { _ = memcpy(buffer!, $0.baseAddress! + sent, count) }
    stream.pointee.bodySent = sent + count
    if sent + count == body.count { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
}
