import Crypto
import Domain
import FoundationEssentials
import Threading

/// An app's VAPID keys, all alive at once, read again when their files change.
final class VAPIDKeyring: Sendable {
    /// Where a key lies.
    struct Place: Sendable {
        let id: Credential.ID
        let path: String
        let contact: String
    }

    struct Entry: Sendable {
        let key: VAPIDKey
        /// Another one when the file was changed.
        let generation: UInt64
        fileprivate let digest: [UInt8]
    }

    private let newest: Place
    private let places: [Place]
    private let entries: Locked<[Credential.ID: Entry]>

    /// - Parameters:
    ///   - newest: signs for subscriptions of which nothing is known.
    ///   - others: those that cannot be read are passed over until they can.
    /// - Throws: `VAPIDKeyInvalid` for the newest.
    init(newest: Place, others: [Place]) throws {
        self.newest = newest
        places = [newest] + others
        var read = [newest.id: try Self.read(newest, after: nil)]
        for place in others { read[place.id] = try? Self.read(place, after: nil) }
        entries = Locked(read)
    }

    /// The key to sign with for a subscription that was made for `id`: its own, else the newest.
    func entry(for id: Credential.ID?) -> (id: Credential.ID, entry: Entry)? {
        entries.withLock { entries in
            if let id, let entry = entries[id] { return (id, entry) }
            // One that this process does not know yet, or whose file is missing, is not the newest's to sign for.
            if let id, id != newest.id, places.contains(where: { $0.id == id }) { return nil }
            return entries[newest.id].map { (newest.id, $0) }
        }
    }

    /// Reads what has changed; a key that cannot be read stays as it was.
    func reload() {
        for place in places {
            let known = entries.withLock { $0[place.id] }
            guard let read = try? Self.read(place, after: known), read.generation != known?.generation else { continue }
            entries.withLock { $0[place.id] = read }
        }
    }

    private static func read(_ place: Place, after known: Entry?) throws -> Entry {
        guard let file = FileManager.default.contents(atPath: place.path) else { throw VAPIDKeyInvalid.unreadable }
        let digest = SHA256.hash(data: Array(file))
        if let known, known.digest == digest { return known }
        return Entry(
            key: try VAPIDKey(file: Array(file), contact: place.contact), generation: (known?.generation ?? 0) + 1,
            digest: digest)
    }
}
