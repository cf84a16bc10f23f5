import Glibc
import Threading

/// Takes signals off the process and gives them to who listens, through a pipe and a thread that reads it.
///
/// A handler rather than signalfd(2), which wants the signal blocked in every thread: those of the cooperative pool have
/// started before any code of ours can say so.
final class SignalTrap: Sendable {
    static let shared = SignalTrap()

    private typealias Listeners = [UInt64: (
        signals: Set<UnixSignal>, continuation: AsyncStream<UnixSignal>.Continuation
    )]

    private struct State: Sendable {
        var listeners: Listeners = [:]
        var nextListener: UInt64 = 0
        var isReading = false

        func isHeard(_ signal: UnixSignal) -> Bool { listeners.values.contains { $0.signals.contains(signal) } }
    }

    private let state = Locked(State())

    /// Each signal that arrives from now on. While anybody listens to one it does not end the process; when the last
    /// one stops, by `continuation.finish()` or by the end of the task that iterates, it does so again.
    func listen(to signals: [UnixSignal]) -> AsyncStream<UnixSignal> {
        let (stream, continuation) = AsyncStream.makeStream(of: UnixSignal.self)
        let key = state.withLock { state in
            state.nextListener += 1
            if !state.isReading, !signals.isEmpty { startReading(&state) }
            for signal in signals where !state.isHeard(signal) { install(signal) }
            state.listeners[state.nextListener] = (Set(signals), continuation)
            return state.nextListener
        }
        continuation.onTermination = { _ in self.stop(key) }
        return stream
    }

    private func stop(_ key: UInt64) {
        state.withLock { state in
            let signals = state.listeners.removeValue(forKey: key)?.signals ?? []
            for signal in signals where !state.isHeard(signal) { restoreDefault(signal) }
        }
    }

    private func startReading(_ state: inout State) {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0, "pipe failed with error \(errno)")
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // The handler must not block. A full pipe holds thousands of signals that nobody took: one more changes nothing.
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        signalPipe = ends[1]
        state.isReading = true
        let input = ends[0]
        startThread(named: "signals") { self.read(input) }
    }

    private func read(_ input: Int32) -> Never {
        while true {
            var number: UInt8 = 0
            guard Glibc.read(input, &number, 1) == 1 else { continue }  // only EINTR: the other end stays open
            let signal = UnixSignal(rawValue: Int32(number))
            let heard = state.withLock { state in
                state.listeners.values.filter { $0.signals.contains(signal) }.map(\.continuation)
            }
            for continuation in heard { continuation.yield(signal) }
        }
    }

    private func install(_ signal: UnixSignal) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            // Only what signal-safety(7) allows, and errno as the interrupted code left it.
            let saved = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = write(signalPipe, &byte, 1)
            errno = saved
        }
        action.sa_flags = SA_RESTART
        sigaction(signal.rawValue, &action, nil)
    }

    private func restoreDefault(_ signal: UnixSignal) {
        Glibc.signal(signal.rawValue, SIG_DFL)
    }
}

/// Where the handler writes. Set once, under the trap's lock, before the first handler is installed.
nonisolated(unsafe) private var signalPipe: Int32 = -1
