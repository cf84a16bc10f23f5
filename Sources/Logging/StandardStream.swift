import Glibc
import Threading

/// Standard output and error, unbuffered: what was written is out, also when the process is killed the moment after.
package enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    private static let turns = Monitor(())

    /// Writes it all, not mixed with what other threads write. Waits while the reader of a pipe is slow.
    ///
    /// A stream that nobody reads any more is no reason to stop: the text is dropped then.
    package func write(_ text: String) {
        var text = text
        Self.turns.withLock { _ in
            text.withUTF8 { writeAll(UnsafeRawBufferPointer($0)) }
        }
    }

    private func writeAll(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(rawValue, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {  // whoever shares the terminal made it non-blocking
                var descriptor = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                poll(&descriptor, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }
}
