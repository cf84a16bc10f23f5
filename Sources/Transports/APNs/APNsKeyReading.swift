import Crypto
import FoundationEssentials
import Threading

/// The key of a credential file, read again when that file or the .p8 file that it names changes.
final class APNsKeyReading: Sendable {
    private struct Read: Sendable {
        var key: APNsKey
        /// Of the files' contents, which are not kept.
        var digest: [UInt8]
    }

    private let path: String
    private let read: Locked<Read>

    /// - Throws: `KeyFileProblems`, also when there is no such file.
    init(path: String) throws {
        self.path = path
        read = Locked(try Self.load(path))
    }

    var key: APNsKey { read.withLock(\.key) }

    /// - Returns: whether the files hold something new.
    /// - Throws: `KeyFileProblems`; the key read before stays.
    func reload() throws -> Bool {
        let new = try Self.load(path)
        return read.withLock { read in
            if new.digest == read.digest { return false }
            read = new
            return true
        }
    }

    private static func load(_ path: String) throws -> Read {
        guard let file = FileManager.default.contents(atPath: path) else { throw KeyFileProblems.unreadable }
        var signed = Array(file)
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        let key = try APNsKey(parsing: Array(file)) { name in
            let place = name.hasPrefix("/") ? name : directory + name
            guard let pem = FileManager.default.contents(atPath: place) else { return nil }
            signed += Array(pem)
            return String(decoding: pem, as: UTF8.self)
        }
        return Read(key: key, digest: SHA256.hash(data: signed))
    }
}
