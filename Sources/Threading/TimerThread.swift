import Synchronization

/// The deadlines of all `Wakeup`s that are waited on, and the one thread that keeps them.
///
/// A dictionary that is scanned when a deadline passes: a process waits on tens of wakeups, some hundred at most, and
/// nearly every wait ends before its deadline, so that adding and removing is what must be cheap.
final class TimerThread: Sendable {
    static let shared = TimerThread()

    private struct Timer {
        let deadline: ContinuousClock.Instant
        let wakeup: Wakeup
    }

    private struct State {
        var timers: [UInt64: Timer] = [:]
        /// When the thread looks next; nil while it waits for a timer to come.
        var nextLook: ContinuousClock.Instant?

        /// Removes the timers whose deadline has passed, and sets when to look next.
        mutating func takeDue(at now: ContinuousClock.Instant) -> [(ticket: UInt64, wakeup: Wakeup)] {
            nextLook = nil
            var due: [(ticket: UInt64, wakeup: Wakeup)] = []
            for (ticket, timer) in timers {
                if timer.deadline <= now {
                    due.append((ticket, timer.wakeup))
                } else {
                    nextLook = nextLook.map { min($0, timer.deadline) } ?? timer.deadline
                }
            }
            for timer in due { timers[timer.ticket] = nil }
            return due
        }
    }

    private let monitor = Monitor(State())
    private let tickets = Atomic<UInt64>(0)

    private init() { startThread(named: "timer") { self.run() } }

    /// A number that no other wait of this process has.
    func nextTicket() -> UInt64 { tickets.add(1, ordering: .relaxed).newValue }

    func schedule(_ wakeup: Wakeup, ticket: UInt64, at deadline: ContinuousClock.Instant) {
        let isEarlier = monitor.withLock { state in
            state.timers[ticket] = Timer(deadline: deadline, wakeup: wakeup)
            guard state.nextLook.map({ deadline < $0 }) ?? true else { return false }
            state.nextLook = deadline
            return true
        }
        if isEarlier { monitor.signal() }
    }

    func cancel(_ ticket: UInt64) {
        monitor.withLock { _ = $0.timers.removeValue(forKey: ticket) }
    }

    private func run() -> Never {
        while true {
            let due = monitor.wait { state -> Monitor<State>.Turn<[(ticket: UInt64, wakeup: Wakeup)]> in
                let due = state.takeDue(at: .now)
                return due.isEmpty ? .wait(until: state.nextLook) : .done(due)
            }
            for timer in due { timer.wakeup.resume(timer.ticket) }
        }
    }
}
