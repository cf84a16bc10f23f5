/// A signal for one waiter: something may be there to do. Signals coalesce, and one that finds no waiter is kept.
///
///     while !Task.isCancelled {
///         await wakeup.wait(until: .now + .milliseconds(250))
///         ... look at everything that a signal may stand for ...
///     }
///
/// Waiting starts no task and no thread: all deadlines of the process share one timer thread.
package final class Wakeup: Sendable {
    private struct Waiter: Sendable {
        let ticket: UInt64
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State: Sendable {
        var isSignalled = false
        var waiter: Waiter?

        mutating func takeWaiter() -> Waiter? {
            defer { waiter = nil }
            return waiter
        }
    }

    private let state = Locked(State())

    package init() {}

    /// Wakes the waiter, or the next one to come. Any thread may call it, and it never blocks.
    package func signal() {
        let waiter = state.withLock { state in
            let waiter = state.takeWaiter()
            if waiter == nil { state.isSignalled = true }
            return waiter
        }
        waiter?.continuation.resume()
    }

    /// Returns when signalled, at the deadline or when the task is cancelled, whichever comes first; at once if a signal
    /// was kept, which is thereby used up. At most one task waits at a time.
    package func wait(until deadline: ContinuousClock.Instant) async {
        let ticket = TimerThread.shared.nextTicket()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                park(Waiter(ticket: ticket, continuation: continuation), until: deadline)
            }
        } onCancel: {
            resume(ticket)
        }
        TimerThread.shared.cancel(ticket)
    }

    /// Ends the wait that holds the ticket, if it still lasts.
    func resume(_ ticket: UInt64) {
        let waiter = state.withLock { state in
            state.waiter?.ticket == ticket ? state.takeWaiter() : nil
        }
        waiter?.continuation.resume()
    }

    private func park(_ waiter: Waiter, until deadline: ContinuousClock.Instant) {
        let isOver = state.withLock { state in
            precondition(state.waiter == nil, "A Wakeup has one waiter at a time.")
            if state.isSignalled {
                state.isSignalled = false
                return true
            }
            // Under the lock: a cancellation that came before finds the flag set here, a later one finds the waiter.
            if Task.isCancelled || deadline <= .now { return true }
            state.waiter = waiter
            // Under the lock too, so that the wait cannot end before its timer is known.
            TimerThread.shared.schedule(self, ticket: waiter.ticket, at: deadline)
            return false
        }
        if isOver { waiter.continuation.resume() }
    }
}
