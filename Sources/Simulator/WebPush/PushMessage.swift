/// What a service worker, or a browser by itself, would show of a message (content model §11.4; Declarative Web Push).
struct PushMessage {
    private(set) var scanner: JSONScanner
    private(set) var id: JSONText?
    private(set) var tag: JSONText?
    private(set) var hasTitle = false

    /// - Throws: `JSONFault` when it is no JSON object.
    init(_ text: [UInt8]) throws(JSONFault) {
        scanner = JSONScanner(text)
        try members(depth: 0)
        try scanner.finish()
    }

    private mutating func members(depth: Int) throws(JSONFault) {
        var keys = JSONKeySet()
        guard try scanner.enterObject() else { return }
        repeat {
            let key = try scanner.key()
            try keys.insert(key, of: scanner)
            let isText = scanner.peek() == UInt8(ascii: "\"")
            switch String(decoding: scanner.content(key), as: UTF8.self) {
            case "id" where isText: id = try scanner.string()
            case "tag" where isText: tag = try scanner.string()
            case "title" where isText:
                _ = try scanner.string()
                hasTitle = true
            // A declarative message has its notification, and in that our own part, one level down.
            case "notification" where depth == 0 && scanner.peek() == UInt8(ascii: "{"): try members(depth: 1)
            case "data" where depth == 1 && scanner.peek() == UInt8(ascii: "{"): try members(depth: 2)
            default: try scanner.skipValue()
            }
        } while try scanner.anotherMember()
    }
}
