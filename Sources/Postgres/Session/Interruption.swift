import CLinux
import Glibc

/// Ends a wait of another thread in poll(2). It lasts until cleared.
final class Interruption: Sendable {
    /// Readable while interrupted.
    let descriptor: Int32

    init() {
        descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        precondition(descriptor >= 0, "eventfd failed with error \(errno)")
    }

    deinit { Glibc.close(descriptor) }

    func signal() { eventfd_write(descriptor, 1) }

    func clear() {
        var value: eventfd_t = 0
        eventfd_read(descriptor, &value)
    }
}
