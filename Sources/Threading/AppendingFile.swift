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

    /// Returns when what was written is on the disk.
    package func sync() throws(Failure) {
        guard fsync(descriptor) == 0 else { throw Self.failure("the file cannot be synced") }
    }

    /// Gives a file its final name, in place of one that has it.
    package static func rename(_ path: String, to final: String) throws(Failure) {
        guard Glibc.rename(path, final) == 0 else { throw failure("\(final) cannot be written") }
    }

    /// Removes a file, if it is there.
    package static func remove(_ path: String) throws(Failure) {
        guard unlink(path) == 0 || errno == ENOENT else { throw failure("\(path) cannot be removed") }
    }

    private static func failure(_ what: String) -> Failure {
        Failure(description: "\(what): \(String(cString: strerror(errno)))")
    }
}
