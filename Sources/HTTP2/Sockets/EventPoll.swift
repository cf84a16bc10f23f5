import CLinux
import Glibc

/// Owner of an epoll instance, level-triggered. Belongs to one thread.
final class EventPoll {
    struct Event {
        /// What the descriptor was added with.
        let token: UInt64
        let isReadable: Bool
        let isWritable: Bool
    }

    private static let capacity = 64
    private let descriptor: Int32
    private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: EventPoll.capacity)

    init() {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        precondition(descriptor >= 0, "epoll_create1 failed with error \(errno)")
    }

    deinit {
        close(descriptor)
        events.deallocate()
    }

    func add(_ file: Int32, token: UInt64, writable: Bool = false) {
        control(EPOLL_CTL_ADD, file, token: token, writable: writable)
    }

    /// - Parameter writable: also report when the socket can take more.
    func modify(_ file: Int32, token: UInt64, writable: Bool) {
        control(EPOLL_CTL_MOD, file, token: token, writable: writable)
    }

    func remove(_ file: Int32) { epoll_ctl(descriptor, EPOLL_CTL_DEL, file, nil) }

    /// Blocks until something happens or the instant has come; without one, until something happens.
    /// - Returns: how many of `self[0...]` are valid until the next call.
    func wait(until deadline: ContinuousClock.Instant?) -> Int {
        var timeout: Int32 = -1
        if let deadline {
            let (seconds, attoseconds) = max(.zero, ContinuousClock.now.duration(to: deadline)).components
            // Rounded up, so that the instant has come when this returns.
            timeout = Int32(min(seconds, 3600) * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        }
        return Int(max(0, epoll_wait(descriptor, events, Int32(Self.capacity), timeout)))
    }

    subscript(index: Int) -> Event {
        let event = events[index]
        let failed = EPOLLERR.rawValue | EPOLLHUP.rawValue
        return Event(
            token: event.data.u64, isReadable: event.events & (EPOLLIN.rawValue | failed) != 0,
            isWritable: event.events & (EPOLLOUT.rawValue | failed) != 0)
    }

    private func control(_ operation: Int32, _ file: Int32, token: UInt64, writable: Bool) {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | (writable ? EPOLLOUT.rawValue : 0)
        event.data.u64 = token
        epoll_ctl(descriptor, operation, file, &event)
    }
}
