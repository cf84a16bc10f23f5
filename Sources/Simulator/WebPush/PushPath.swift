/// Where a subscription's endpoint leads: `/push/{token}`, or `/push/{service}/{token}` for the manners of one service.
/// `?k=` and the first 11 characters of the digest of a VAPID key names the one that the subscription was made for.
struct PushPath {
    /// Whose manners the answers have.
    enum Manners: String, CaseIterable, Sendable {
        case fcm, mozilla, apple, wns
    }

    static let prefix = "/push/"

    let manners: Manners?
    let token: [UInt8]
    /// nil = any key will do.
    let key: String?

    init?(_ path: String) {
        guard path.hasPrefix(Self.prefix) else { return nil }
        let parts = path.dropFirst(Self.prefix.count).split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let names = parts[0].split(separator: "/", omittingEmptySubsequences: false)
        manners = names.count == 2 ? Manners(rawValue: String(names[0])) : nil
        guard let last = names.last, !last.isEmpty, names.count == (manners == nil ? 1 : 2) else { return nil }
        token = Array(last.utf8)
        key = parts.count == 2 && parts[1].hasPrefix("k=") ? String(parts[1].dropFirst(2)) : nil
    }
}
