import Glibc

/// A value behind a lock that threads of ours wait on: a mutex with its condition. Never wait on it from the
/// cooperative pool, which is as wide as the cores.
package final class Monitor<Value>: @unchecked Sendable {
    /// What a waiting thread does after looking at the value.
    package enum Turn<Result> {
        case done(Result)
        /// Looks again when signalled, or at the instant if there is one.
        case wait(until: ContinuousClock.Instant?)
    }

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var value: Value  // guarded by `mutex`

    package init(_ value: Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Wakes a waiting thread.
    package func signal() { pthread_cond_signal(condition) }

    /// Blocks the calling thread until `look` is done. It runs with the lock held: first at once, then after each wake.
    package func wait<Result>(_ look: (inout Value) -> Turn<Result>) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch look(&value) {
            case .done(let result): return result
            case .wait(until: nil): pthread_cond_wait(condition, mutex)
            case .wait(until: let deadline?):
                var instant = monotonic(deadline)
                pthread_cond_timedwait(condition, mutex, &instant)
            }
        }
    }

    /// The same instant by the clock that the condition waits on: `ContinuousClock` counts from another point.
    private func monotonic(_ deadline: ContinuousClock.Instant) -> timespec {
        let (seconds, attoseconds) = max(.zero, ContinuousClock.now.duration(to: deadline)).components
        var instant = timespec()
        clock_gettime(CLOCK_MONOTONIC, &instant)
        let nanoseconds = instant.tv_nsec + Int(attoseconds / 1_000_000_000)
        // A century is as good as for ever, and cannot overflow.
        instant.tv_sec += Int(min(seconds, 3_155_760_000)) + nanoseconds / 1_000_000_000
        instant.tv_nsec = nanoseconds % 1_000_000_000
        return instant
    }
}
