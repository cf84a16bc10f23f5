import CLinux
import Glibc
import Threading

/// The way into an event loop: any thread posts, the loop's own thread empties it when the descriptor is readable.
final class Mailbox<Message: Sendable>: Sendable {
    /// An eventfd (eventfd(2)), written only when the box was empty.
    let descriptor: Int32
    private let messages = Locked<[Message]>([])

    init() {
        descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        precondition(descriptor >= 0, "eventfd failed with error \(errno)")
    }

    deinit { close(descriptor) }

    func post(_ message: Message) {
        let wasEmpty = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        guard wasEmpty else { return }
        var one: UInt64 = 1
        // Fails only if the counter is at its maximum, and then the loop wakes anyway.
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    func empty() -> [Message] {
        var count: UInt64 = 0
        // Reset first: what is posted after the box was emptied writes again.
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
