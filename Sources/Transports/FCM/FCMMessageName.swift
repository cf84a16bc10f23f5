/// `{"name": "projects/{project}/messages/{id}"}`, the body of a success, read without a decoder: it is the hot path.
enum FCMMessageName {
    private static let key = Array(#""name""#.utf8)

    /// - Returns: the id alone; nil when the body is cut or is something else, which changes nothing about success.
    static func id(in body: [UInt8]) -> String? {
        let body = body.span
        guard let quote = valueStart(in: body) else { return nil }
        var start = quote + 1
        for index in start..<body.count {
            switch body[index] {
            case UInt8(ascii: "\\"): return nil
            case UInt8(ascii: "/"): start = index + 1
            case UInt8(ascii: "\""): return start < index ? text(body.extracting(start..<index)) : nil
            default: continue
            }
        }
        return nil
    }

    /// Where the quote stands that opens the value.
    private static func valueStart(in body: Span<UInt8>) -> Int? {
        guard body.count > key.count else { return nil }
        for start in 0..<body.count - key.count where matches(body, at: start) {
            let colon = skipBlanks(in: body, from: start + key.count)
            guard colon < body.count, body[colon] == UInt8(ascii: ":") else { continue }
            let quote = skipBlanks(in: body, from: colon + 1)
            if quote < body.count, body[quote] == UInt8(ascii: "\"") { return quote }
        }
        return nil
    }

    private static func skipBlanks(in body: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index < body.count, [0x20, 0x09, 0x0A, 0x0D].contains(body[index]) { index += 1 }
        return index
    }

    private static func matches(_ body: Span<UInt8>, at start: Int) -> Bool {
        for offset in key.indices where body[start + offset] != key[offset] { return false }
        return true
    }

    private static func text(_ bytes: Span<UInt8>) -> String? {
        guard let utf8 = try? UTF8Span(validating: bytes) else { return nil }
        return String(copying: utf8)
    }
}
