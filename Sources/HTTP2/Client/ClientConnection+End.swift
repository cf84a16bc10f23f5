import CNghttp2
import Glibc

extension ClientConnection {
    /// After so many refused streams without an answer in between, the connection is given up.
    private var maxRefusals: Int { max(16, 2 * limit) }

    /// libnghttp2 has closed a stream: decides what became of the request (RFC 9113 §8.7).
    func finish(_ stream: UnsafeMutablePointer<ClientStream>, error: UInt32) {
        defer { giveBack(stream) }
        guard let queued = stream.pointee.queued, !stream.pointee.isSettled else { return }
        if error == NGHTTP2_NO_ERROR.rawValue, stream.pointee.hasEnded {
            answered += 1
            timeoutsInARow = 0
            refusalsInARow = 0
            queue.settle(queued, .answered(stream.pointee.takeResponse()))
        } else if error == NGHTTP2_REFUSED_STREAM.rawValue {
            // Said by the server, or by libnghttp2 about streams above the last one that a GOAWAY accepts.
            refuse(queued)
        } else if stream.pointee.headersAt == nil {
            queue.putBack(queued, .connectionLost)
        } else {
            queue.settle(queued, .mayHaveBeenSent(.streamReset(code: error)))
        }
    }

    private func refuse(_ queued: QueuedRequest) {
        guard !wentAway else { return queue.putBack(queued, .goAway) }
        refusalsInARow += 1
        if refusalsInARow >= maxRefusals { retire() }
        queue.putBack(queued, .refusedStream)
    }

    /// Gives up the requests whose deadline has passed, each for itself. Two in a row, and the connection takes no more.
    func expireRequests() {
        guard let due = nextDeadline, due <= clock.now else { return }
        nextDeadline = nil
        forEachRequest { stream in
            let deadline = stream.pointee.deadline
            guard deadline <= clock.now else {
                nextDeadline = nextDeadline.map { min($0, deadline) } ?? deadline
                return
            }
            timeoutsInARow += 1
            cancel(stream, .timedOut)
        }
        guard timeoutsInARow >= 2, phase == .open else { return }
        retire()
        // Behind a socket that takes nothing, some may not have left: another connection serves them better.
        forEachRequest { if $0.pointee.headersAt == nil { cancel($0, .connectionLost) } }
    }

    /// Gives the result of a request, and has libnghttp2 reset its stream, or forget it if it is not yet one.
    private func cancel(_ stream: UnsafeMutablePointer<ClientStream>, _ fault: HTTP2Fault) {
        end(stream, fault)
        let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        nghttp2_submit_rst_stream(session, flags, stream.pointee.id, NGHTTP2_CANCEL.rawValue)
        needsFlush = true
    }

    /// The connection is over: what OpenSSL was never offered did not leave, about the rest nobody knows.
    func endAll(_ fault: HTTP2Fault) {
        forEachRequest { end($0, fault) }
    }

    /// GOAWAY, for a connection that has done its work (RFC 9113 §6.8), if the socket takes it now.
    func announceEnd() {
        nghttp2_session_terminate_session(session, NGHTTP2_NO_ERROR.rawValue)
        _ = channel.flush(session)
    }

    /// Gives the result of a request that will not be answered.
    private func end(_ stream: UnsafeMutablePointer<ClientStream>, _ fault: HTTP2Fault) {
        guard let queued = stream.pointee.queued else { return }
        stream.pointee.isSettled = true
        let mayHaveLeft = stream.pointee.headersAt.map { $0 < channel.handed } ?? false
        if mayHaveLeft || willStillLeave(stream, fault) {
            queue.settle(queued, .mayHaveBeenSent(fault))
        } else {
            queue.putBack(queued, fault)
        }
    }

    /// A timeout ends a request, not the connection: what was packed for the socket goes out in spite of it.
    private func willStillLeave(_ stream: UnsafeMutablePointer<ClientStream>, _ fault: HTTP2Fault) -> Bool {
        fault == .timedOut && stream.pointee.headersAt != nil
    }

    /// Whether there is a request whose result was not given.
    var hasRequests: Bool {
        (0..<streamCapacity).contains { streams[$0].queued != nil && !streams[$0].isSettled }
    }

    /// Those whose result was not given.
    private func forEachRequest(_ body: (UnsafeMutablePointer<ClientStream>) -> Void) {
        for index in 0..<streamCapacity where streams[index].queued != nil && !streams[index].isSettled {
            body(streams + index)
        }
    }
}
