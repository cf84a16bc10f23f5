import Glibc

/// A file read from its beginning in pieces, so that its size costs no memory.
struct FileChunks: ~Copyable {
    private let descriptor: Int32
    private let identity: (device: UInt64, inode: UInt64)
    /// nil = not known, as of a pipe.
    let size: Int64?
    /// Bytes given so far.
    private(set) var position: Int64 = 0

    static let chunkSize = 262_144

    /// - Parameter path: a file that can be read; `-` is standard input.
    /// - Returns: nil when it cannot be read.
    init?(path: String) {
        descriptor = path == "-" ? dup(STDIN_FILENO) : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            close(descriptor)
            return nil
        }
        size = status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
        identity = (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    /// Whether writing to the path would destroy what is read here, under whatever name.
    func isFile(at path: String) -> Bool {
        var status = stat()
        return unsafe size != nil && stat(path, &status) == 0
            && identity == (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    deinit { close(descriptor) }

    /// The next piece; empty at the end.
    /// - Throws: when the file cannot be read on.
    mutating func next() throws -> [UInt8] {
        let chunk = unsafe [UInt8](unsafeUninitializedCapacity: Self.chunkSize) { buffer, count in
            var result = -1
            repeat {
                result = unsafe read(descriptor, buffer.baseAddress, buffer.count)
            } while result < 0 && errno == EINTR
            count = max(0, result)
            failure = result < 0 ? errno : 0
        }
        guard failure == 0 else { throw ReadFailure(code: failure) }
        position += Int64(chunk.count)
        return chunk
    }

    private var failure: Int32 = 0

    struct ReadFailure: Error { let code: Int32 }
}
