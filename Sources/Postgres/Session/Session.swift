import CLibPQ
import Glibc
import Threading

/// One connection that is open: libpq's handle, and what dies with it. It belongs to the thread of its
/// `PostgresConnection`; whoever holds the last reference closes it.
final class Session {
    let handle: OpaquePointer
    /// Ends a wait early.
    let interruption: Interruption
    var statements = PreparedStatements()
    var buffers = ParameterBuffers()
    /// The server said that it ends the connection.
    private var isDoomed = false

    /// - Parameter handle: a `PGconn` in any state, owned from now on.
    init(adopting handle: OpaquePointer, interruption: Interruption) {
        self.handle = handle
        self.interruption = interruption
        // Notices are not printed. Between statements libpq takes a last word of the server for one, too.
        PQsetNoticeReceiver(
            handle,
            { context, notice in
                guard let context, let notice, isLastWord(notice) else { return }
                // The handle, which calls this, does not outlive the session.
                Unmanaged<Session>.fromOpaque(context).takeUnretainedValue().isDoomed = true
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { PQfinish(handle) }

    /// Between statements, in a transaction or not.
    var isIdle: Bool {
        let status = PQtransactionStatus(handle)
        return PQstatus(handle) == CONNECTION_OK && status != PQTRANS_ACTIVE && status != PQTRANS_UNKNOWN
    }

    var isInTransaction: Bool { PQtransactionStatus(handle) != PQTRANS_IDLE }

    /// What the server does with an idle connection arrives unasked. Looking costs one system call, and spares the
    /// caller a statement of which nobody knows whether it was executed.
    func isStillOpen() -> Bool {
        guard PQstatus(handle) == CONNECTION_OK else { return false }
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN) | pollReadHangUp, revents: 0)
        guard poll(&descriptor, 1, 0) > 0 else { return true }
        guard descriptor.revents == Int16(POLLIN) else { return false }
        guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { return false }
        // Has libpq look at what it read.
        _ = PQisBusy(handle)
        return !isDoomed
    }

    /// Blocks until the socket is ready.
    /// - Returns: false when the deadline passed first, or the interruption came if it was asked for.
    func wait(for events: Int32, until deadline: ContinuousClock.Instant, interruptibly: Bool = false) -> Bool {
        while true {
            var descriptors = (
                pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0),
                pollfd(fd: interruptibly ? interruption.descriptor : -1, events: Int16(POLLIN), revents: 0)
            )
            let count = withUnsafeMutableBytes(of: &descriptors) { memory in
                poll(memory.assumingMemoryBound(to: pollfd.self).baseAddress!, 2, deadline.pollTimeout)
            }
            if count > 0 { return descriptors.0.revents != 0 }
            // Rounding to milliseconds may end it early, and so may a signal.
            if deadline <= .now { return false }
        }
    }

    /// What libpq says about the connection, in one line.
    var lastError: String { oneLine(String(cString: PQerrorMessage(handle))) }
}

/// `POLLRDHUP` of poll(2), which Glibc's overlay hides: the peer closed its end.
private let pollReadHangUp: Int16 = 0x2000

extension ContinuousClock.Instant {
    /// For poll(2): whole milliseconds, rounded up, so that waiting never turns into spinning.
    fileprivate var pollTimeout: Int32 {
        let (seconds, attoseconds) = ContinuousClock.now.duration(to: self).components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        guard !milliseconds.overflow else { return .max }
        return Int32(clamping: milliseconds.partialValue &+ (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

/// Whether the server ends the connection with this error.
func isLastWord(_ result: OpaquePointer) -> Bool {
    // PG_DIAG_SEVERITY_NONLOCALIZED, a macro: PostgreSQL manual 34.3.1.
    guard let severity = PQresultErrorField(result, Int32(UInt8(ascii: "V"))) else { return false }
    return strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0
}

/// The first line that says something, without the white space around it.
func oneLine(_ text: String) -> String {
    let line = text.split(whereSeparator: \.isNewline).first ?? ""
    return String(line.drop(while: \.isWhitespace))
}
