import ArgumentParser

/// Where to listen: `127.0.0.1:8443`, `[::1]:0`, `localhost:8443`.
struct Listen: Equatable, Sendable {
    let host: String
    let port: UInt16

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    init(parsing text: String) throws(ValidationError) {
        let colon = text.lastIndex(of: ":")
        guard let colon, let port = UInt16(text[text.index(after: colon)...]) else {
            throw ValidationError("--listen '\(text)' has no port; write 127.0.0.1:8443")
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { throw ValidationError("--listen '\(text)' has no host; write 127.0.0.1:8443") }
        (self.host, self.port) = (String(host), port)
    }

    /// As it stands in a URL.
    func authority(port: UInt16) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
