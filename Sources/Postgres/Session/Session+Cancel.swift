import CLibPQ
import Threading

extension Session {
    /// How long a cancellation may hold up the one who gave up waiting already.
    private static let patience = Duration.milliseconds(500)

    /// Asks the server to cancel what runs on this connection, over another one, as the protocol has it.
    ///
    /// `PQcancel` blocks, without end when the host is gone: it gets a thread, which outlives the patience of this call
    /// but not the TCP timeouts that the connection was given (libpq 15 applies them here too).
    func cancelStatement() {
        guard let pointer = PQgetCancel(handle) else { return }
        // The thread is the only one to use it, and frees it.
        nonisolated(unsafe) let request = pointer
        let isDone = Monitor(false)
        startThread(named: "postgres-cancel") {
            var message = [CChar](repeating: 0, count: 256)
            PQcancel(request, &message, Int32(message.count))
            PQfreeCancel(request)
            isDone.withLock { $0 = true }
            isDone.signal()
        }
        let limit = ContinuousClock.now + Self.patience
        isDone.wait { isDone in isDone || limit <= .now ? .done(()) : .wait(until: limit) }
    }
}
