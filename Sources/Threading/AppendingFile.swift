import Glibc

/// A file of which only the end is written, for journals. Readable by its owner alone.
package final class AppendingFile: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        /// What the system said.
        package let description: String
    }

    private let descriptor: Int32

    /// Opens the file, or makes an empty one.
    package init(path: String) throws(Failure) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("\(path) cannot be opened") }
    }

    deinit { close(descriptor) }

    /// Returns when the system has taken all of it; it may not be on the disk yet.
    package func write(_ bytes: [UInt8]) throws(Failure) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: $0[done...]).baseAddress, $0.count - done)
            }
            if count > 0 {
                done += count
            } else if errno != EINTR {
                throw Self.failure("the file cannot be written")
            }
        }
    }

    private static func failure(_ what: String) -> Failure {
        Failure(description: "\(what): \(String(cString: strerror(errno)))")
    }
}
