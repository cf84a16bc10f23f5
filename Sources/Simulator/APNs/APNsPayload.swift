/// What the answer and the device model need of a payload (Apple: generating a remote notification). Types of the keys
/// that Apple lists are checked; custom keys may be anything.
struct APNsPayload {
    /// The notification's own id, our app library's: `id` beside `aps`.
    private(set) var id: JSONText?
    private(set) var scanner: JSONScanner
    private(set) var hasAlert = false
    private(set) var hasBadge = false
    private(set) var hasSound = false
    private(set) var isMutable = false
    private(set) var isContentAvailable = false
    /// Keys of `aps`.
    private var count = 0

    /// It draws something, plays something or counts.
    var isVisible: Bool { hasAlert || hasBadge || hasSound }

    /// Wakes the app and carries nothing that Apple discards a background push for.
    var isBackground: Bool { isContentAvailable && count == 1 }

    /// - Throws: when it is no JSON object with an object `aps`, or a key of Apple's has another type.
    init(_ body: [UInt8]) throws(JSONFault) {
        scanner = JSONScanner(body)
        var hasAps = false
        var keys = JSONKeySet()
        if try scanner.enterObject() {
            repeat {
                let key = try scanner.key()
                try keys.insert(key, of: scanner)
                if scanner.equals(key, Self.aps) {
                    hasAps = true
                    try readAps()
                } else if scanner.equals(key, Self.idKey), scanner.peek() == UInt8(ascii: "\"") {
                    id = try scanner.string()
                } else {
                    try scanner.skipValue()
                }
            } while try scanner.anotherMember()
        }
        try scanner.finish()
        // A mutable notification is shown through the service extension, which needs an alert to change.
        if !hasAps || isMutable && !hasAlert { throw JSONFault(.unexpected, at: body.count) }
    }

    private static let aps = Array("aps".utf8)
    private static let idKey = Array("id".utf8)
    private static let levels = ["passive", "active", "time-sensitive", "critical"]

    private mutating func readAps() throws(JSONFault) {
        var keys = JSONKeySet()
        guard try scanner.enterObject() else { return }
        repeat {
            let key = try scanner.key()
            try keys.insert(key, of: scanner)
            count += 1
            try read(String(decoding: scanner.content(key), as: UTF8.self))
        } while try scanner.anotherMember()
    }

    private mutating func read(_ key: String) throws(JSONFault) {
        switch key {
        case "alert":
            hasAlert = true
            try skip("\"", "{")
        case "sound":
            hasSound = true
            try skip("\"", "{")
        case "badge":
            hasBadge = true
            _ = try scanner.number()
        case "content-available":
            isContentAvailable = try isOne()
        case "mutable-content":
            isMutable = try isOne()
        case "relevance-score", "timestamp", "stale-date", "dismissal-date": _ = try scanner.number()
        case "interruption-level":
            let place = scanner.position
            let level = try scanner.string()
            if !Self.levels.contains(String(decoding: scanner.content(level), as: UTF8.self)) {
                throw JSONFault(.unexpected, at: place)
            }
        case "thread-id", "category", "target-content-id", "filter-criteria", "event": _ = try scanner.string()
        default: try scanner.skipValue()
        }
    }

    private mutating func isOne() throws(JSONFault) -> Bool {
        let place = try scanner.number()
        return scanner.bytes[place].elementsEqual([UInt8(ascii: "1")])
    }

    private mutating func skip(_ openings: Unicode.Scalar...) throws(JSONFault) {
        let next = scanner.peek()
        guard openings.contains(where: { UInt8(ascii: $0) == next }) else {
            throw JSONFault(.unexpected, at: scanner.position)
        }
        try scanner.skipValue()
    }
}
