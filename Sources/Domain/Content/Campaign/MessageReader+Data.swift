extension MessageReader {
    private static let reservedKeys = ["from", "message_type", "collapse_key", "aps"]
    private static let reservedPrefixes = ["google", "gcm", "_"]

    /// Texts by name, for the app (content model §8), sorted by key.
    mutating func data(_ members: JSONMembers) -> [Message.DataEntry] {
        guard let entries = problems.object("data", of: members, known: nil) else { return [] }
        return entries.keys.compactMap { key in
            checkKey(key, at: entries.pointer / key)
            guard case .string(let value)? = entries[key] else {
                problems.add(
                    .dataNotString, at: entries.pointer / key, "The value is \(entries[key]?.kind ?? "missing").",
                    remedy: "Write it as a text, in quotes.")
                return nil
            }
            if CharacterCount.of(value, exceeds: 1024) {
                problems.add(
                    .dataValueTooLong, at: entries.pointer / key, "The value is longer than 1024 characters.",
                    remedy: "Send an id and let the app fetch the rest.")
            }
            return Message.DataEntry(key: key, value: value)
        }
    }

    private mutating func checkKey(_ key: String, at pointer: JSONPointer) {
        if key.isEmpty {
            problems.add(.dataKeyInvalid, at: pointer, "The key is empty.", remedy: "Give it a name.")
        }
        if CharacterCount.of(key, exceeds: 64) {
            problems.add(
                .dataKeyTooLong, at: pointer, "The key is longer than 64 characters.", remedy: "Use a shorter one.")
        }
        if Self.isReserved(dataKey: key) {
            problems.add(
                .dataKeyReserved, at: pointer, "The providers keep this key for themselves.",
                remedy:
                    "Use another: not from, message_type, collapse_key or aps, nor one that begins with google, gcm or _."
            )
        }
    }

    /// In whatever case.
    static func isReserved(dataKey key: String) -> Bool {
        let lowered = String(decoding: key.utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
        return reservedKeys.contains(lowered)
            || reservedPrefixes.contains { lowered.utf8.starts(with: $0.utf8) }
    }
}
