import ArgumentParser
import Domain
import Glibc

/// Where an import keeps what it refused: the lines as they stood, which can be mended and imported again, and beside
/// them, in `PATH.reasons`, what is wrong with each. Neither is made before a line is refused.
struct RejectFile: ~Copyable {
    let path: String
    private(set) var count: Int64 = 0
    private let header: [UInt8]
    private var lines: Int32 = -1
    private var reasons: Int32 = -1

    init(path: String, header: [UInt8]) {
        self.path = path
        self.header = header
    }

    deinit {
        if lines >= 0 { close(lines) }
        if reasons >= 0 { close(reasons) }
    }

    mutating func keep(_ line: RefusedLine, text: some Sequence<UInt8>) throws {
        if lines < 0 {
            lines = try create(path)
            reasons = try create(path + ".reasons")
            try put(header, into: lines)
            try put(Array("line\treason\n".utf8), into: reasons)
        }
        count += 1
        var text = Array(text)
        if text.last != UInt8(ascii: "\n") { text.append(UInt8(ascii: "\n")) }
        try put(text, into: lines)
        try put(Array("\(line.line)\t\(Self.describe(line))\n".utf8), into: reasons)
    }

    static func describe(_ line: RefusedLine) -> String {
        line.reasons.map { reason in
            (reason.column.map { "\($0.rawValue): " } ?? "") + reason.message
        }.joined(separator: " ")
    }

    /// Addresses of subscribers stand in it.
    private func create(_ path: String) throws -> Int32 {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw cannotWrite }
        return descriptor
    }

    private func put(_ bytes: [UInt8], into descriptor: Int32) throws {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw cannotWrite }
            sent += count
        }
    }

    private var cannotWrite: CommandFailure {
        CommandFailure(
            "rejects: \(path) cannot be written; name another file with --rejects", status: ExitStatus.failed)
    }
}
