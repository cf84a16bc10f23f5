import Crypto
import FoundationEssentials
import Threading

/// The service account of a key file, read again when the file changes.
final class KeyFileReading: Sendable {
    private struct Read: Sendable {
        var account: ServiceAccount
        /// Of the file's contents, which are not kept.
        var digest: [UInt8]
    }

    private let path: String
    private let read: Locked<Read>

    /// - Throws: `KeyFileProblems`, also when there is no such file.
    init(path: String) throws {
        self.path = path
        let file = try Self.contents(path)
        read = Locked(Read(account: try ServiceAccount(parsing: file), digest: SHA256.hash(data: file)))
    }

    var account: ServiceAccount { read.withLock(\.account) }

    /// - Returns: whether the file holds something new.
    /// - Throws: `KeyFileProblems`; the account read before stays.
    func reload() throws -> Bool {
        let file = try Self.contents(path)
        let digest = SHA256.hash(data: file)
        if digest == read.withLock(\.digest) { return false }
        let account = try ServiceAccount(parsing: file)
        read.withLock { $0 = Read(account: account, digest: digest) }
        return true
    }

    private static func contents(_ path: String) throws -> [UInt8] {
        guard let file = FileManager.default.contents(atPath: path) else {
            throw KeyFileProblems.unreadable
        }
        return Array(file)
    }
}
