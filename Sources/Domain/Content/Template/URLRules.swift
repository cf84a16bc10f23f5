/// What a `url` and an `image` may be (content model D-8, decisions.md "Content").
enum URLRules {
    enum Fault: Equatable { case invalid, tooLong }

    static let maximumCharacters = 2048

    /// Refused as a link: they run code in a browser or read the device.
    private static let refusedSchemes = ["javascript", "data", "vbscript", "file"].map { Array($0.utf8) }
    private static let https = Array("https".utf8)
    private static let http = Array("http".utf8)

    /// What is wrong with a link, given as UTF-8.
    static func fault(ofLink utf8: Span<UInt8>) -> Fault? {
        if isTooLong(utf8) { return .tooLong }
        guard let scheme = schemeLength(utf8), !hasWhiteSpace(utf8) else { return .invalid }
        if refusedSchemes.contains(where: { matches(utf8, scheme, $0) }) { return .invalid }
        let needsHost = matches(utf8, scheme, https) || matches(utf8, scheme, http)
        return needsHost && !hasHost(utf8, from: scheme + 1) ? .invalid : nil
    }

    /// An image or icon: a link whose scheme is `https`.
    static func isValidImage(_ text: String) -> Bool {
        let utf8 = text.utf8Span.span
        guard fault(ofLink: utf8) == nil, let scheme = schemeLength(utf8) else { return false }
        return matches(utf8, scheme, https)
    }

    /// Counts characters, but only where bytes leave a doubt, and never of more than the guard lets through.
    static func isTooLong(_ utf8: Span<UInt8>) -> Bool {
        guard utf8.count > maximumCharacters else { return false }
        guard utf8.count <= CharacterCount.guardBytes else { return true }
        return text(utf8).count > maximumCharacters
    }

    /// `scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )`, up to its colon (RFC 3986 §3.1).
    private static func schemeLength(_ utf8: Span<UInt8>) -> Int? {
        for index in utf8.indices {
            switch utf8[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): continue
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                if index == 0 { return nil }
            case UInt8(ascii: ":"): return index > 0 ? index : nil
            default: return nil
            }
        }
        return nil
    }

    private static func matches(_ utf8: Span<UInt8>, _ length: Int, _ scheme: [UInt8]) -> Bool {
        guard length == scheme.count else { return false }
        for index in 0..<length where utf8[index] | 0x20 != scheme[index] { return false }
        return true
    }

    /// `"//" [ userinfo "@" ] host [ ":" port ]`, ended by `/`, `?` or `#`: is there anything for a host?
    private static func hasHost(_ utf8: Span<UInt8>, from start: Int) -> Bool {
        let slash = UInt8(ascii: "/")
        guard start + 1 < utf8.count, utf8[start] == slash, utf8[start + 1] == slash else { return false }
        var hostStart = start + 2
        var end = hostStart
        while end < utf8.count, utf8[end] != slash, utf8[end] != UInt8(ascii: "?"), utf8[end] != UInt8(ascii: "#") {
            if utf8[end] == UInt8(ascii: "@") { hostStart = end + 1 }
            end += 1
        }
        return hostStart < end && utf8[hostStart] != UInt8(ascii: ":")
    }

    private static func hasWhiteSpace(_ utf8: Span<UInt8>) -> Bool {
        for index in utf8.indices {
            if WhiteSpace.isASCII(utf8[index]) { return true }
            if utf8[index] >= 0x80 { return WhiteSpace.occurs(in: text(utf8)) }
        }
        return false
    }

    private static func text(_ utf8: Span<UInt8>) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        for index in utf8.indices { bytes.append(utf8[index]) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
