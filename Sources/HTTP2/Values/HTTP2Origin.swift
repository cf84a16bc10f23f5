/// Who is spoken to: scheme `https`, a host and a port (RFC 6454 §4).
package struct HTTP2Origin: Hashable, Sendable {
    /// A DNS name in ASCII (A-labels), or an IP address without brackets.
    package let host: String
    package let port: UInt16

    package init(host: String, port: UInt16 = 443) {
        self.host = host
        self.port = port
    }

    /// What `:authority` says (RFC 9113 §8.3.1): the port only where it is not the scheme's own.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }
}
