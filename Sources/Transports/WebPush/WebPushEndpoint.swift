import HTTP2

/// The address of a subscription, taken apart. A bearer secret: it appears in no log.
struct WebPushEndpoint {
    let origin: HTTP2Origin
    /// What a VAPID token is made out for: the serialised origin (RFC 6454 §6.1), without the default port.
    let audience: String
    /// Path and query, as they are written.
    let path: [UInt8]

    /// nil for anything but `https://host[:port][/path][?query]`; user information is dropped.
    init?(_ text: String) {
        let scheme = "https://"
        let bytes = Array(text.utf8)
        guard bytes.count > scheme.utf8.count,
            zip(bytes, scheme.utf8).allSatisfy({ $0 == $1 || $0 | 0x20 == $1 && $0 >= UInt8(ascii: "A") })
        else { return nil }
        let rest = bytes[scheme.utf8.count...]
        let end = rest.firstIndex { [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        var authority = rest[..<(end ?? rest.endIndex)]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
        guard let (host, port) = Self.split(String(decoding: authority, as: UTF8.self).lowercased()) else { return nil }
        origin = HTTP2Origin(host: host, port: port)
        let name = host.contains(":") ? "[\(host)]" : host
        audience = port == 443 ? scheme + name : "\(scheme)\(name):\(port)"
        let target = rest[(end ?? rest.endIndex)...].prefix { $0 != UInt8(ascii: "#") }
        path = target.first == UInt8(ascii: "/") ? Array(target) : [UInt8(ascii: "/")] + target
    }

    /// - Returns: the host as an origin names it, an IPv6 address without brackets.
    private static func split(_ authority: String) -> (host: String, port: UInt16)? {
        var host = authority[...]
        var port = ""[...]
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
            port = authority[authority.index(after: end)...]
            guard port.isEmpty || port.hasPrefix(":"), let short = IPv6Text.shortest(host) else { return nil }
            return number(port.dropFirst()).map { (short, $0) }
        }
        if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        guard !host.isEmpty else { return nil }
        return number(port).map { (String(host), $0) }
    }

    /// Nothing is the scheme's own port.
    private static func number(_ port: Substring) -> UInt16? {
        if port.isEmpty { return 443 }
        guard port.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return UInt16(port)
    }
}

/// IPv6 addresses in text (RFC 4291 §2.2).
enum IPv6Text {
    /// As URLs write them (RFC 5952): without leading zeros, the longest run of zeros as `::`. nil = it is none.
    static func shortest(_ text: Substring) -> String? {
        guard let groups = groups(of: text) else { return nil }
        var best = 0..<0
        var start = 0
        for end in 0...8 where end == 8 || groups[end] != 0 {
            if end - start > max(1, best.count) { best = start..<end }
            start = end + 1
        }
        let words = groups.map { String($0, radix: 16) }
        if best.isEmpty { return words.joined(separator: ":") }
        return words[..<best.lowerBound].joined(separator: ":") + "::"
            + words[best.upperBound...].joined(separator: ":")
    }

    private static func groups(of text: Substring) -> [UInt16]? {
        let halves = text.split(separator: "::", omittingEmptySubsequences: false)
        guard (1...2).contains(halves.count), let first = numbers(halves[0]), let last = numbers(halves.last ?? "")
        else { return nil }
        if halves.count == 1 { return first.count == 8 ? first : nil }
        let missing = 8 - first.count - last.count
        return missing > 0 ? first + [UInt16](repeating: 0, count: missing) + last : nil
    }

    private static func numbers(_ text: Substring) -> [UInt16]? {
        if text.isEmpty { return [] }
        var numbers: [UInt16] = []
        for word in text.split(separator: ":", omittingEmptySubsequences: false) {
            guard (1...4).contains(word.utf8.count), word.first != "+", let number = UInt16(word, radix: 16) else {
                return nil
            }
            numbers.append(number)
        }
        return numbers
    }
}
