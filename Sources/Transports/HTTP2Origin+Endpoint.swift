import HTTP2

extension HTTP2Origin {
    /// Reads `https://host` or `https://host:port`; nil for anything else.
    init?(endpoint: String) {
        let scheme = "https://"
        guard endpoint.hasPrefix(scheme) else { return nil }
        var authority = endpoint.dropFirst(scheme.count)
        if authority.hasSuffix("/") { authority.removeLast() }
        var host = authority
        var port: UInt16 = 443
        // The colons within an IPv6 address stand in brackets.
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            guard let number = UInt16(authority[authority.index(after: colon)...]) else { return nil }
            (host, port) = (authority[..<colon], number)
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, !host.contains(where: { "/?#@ ".contains($0) }) else { return nil }
        self.init(host: String(host), port: port)
    }
}
