/// Which Web Push endpoints may be sent to. They come from clients, so they are hostile input (webpush.md §8; the
/// address that a name resolves to is checked again when connecting).
package struct EndpointPolicy: Sendable, Equatable {
    /// Names, or all names below one: `*.push.apple.com`. nil = any public name.
    package var hosts: [String]?
    /// Ports other than 443, and IP literals: for a push service of one's own, such as the simulator.
    package var allowsPrivate: Bool

    package init(hosts: [String]? = Self.services, allowsPrivate: Bool = false) {
        self.hosts = hosts?.map { $0.lowercased() }
        self.allowsPrivate = allowsPrivate
    }

    /// The push services of the browsers.
    package static let services = [
        "fcm.googleapis.com", "jmt17.google.com", "updates.push.services.mozilla.com", "*.push.services.mozilla.com",
        "*.push.apple.com", "*.notify.windows.com",
    ]

    package static let maximumLength = 2048

    /// What is wrong with an endpoint, without quoting it; nil = it may be used.
    package func fault(in endpoint: String) -> String? {
        let bytes = Array(endpoint.utf8)
        guard bytes.count <= Self.maximumLength else {
            return "The endpoint is longer than \(Self.maximumLength) bytes."
        }
        guard bytes.allSatisfy({ 0x21...0x7E ~= $0 }) else { return "The endpoint holds white space or no ASCII." }
        guard let authority = Self.authority(bytes) else { return "The endpoint is no https address." }
        guard !bytes.contains(UInt8(ascii: "#")) else { return "The endpoint has a fragment." }
        guard !authority.contains(UInt8(ascii: "@")) else { return "The endpoint has a user in it." }
        let (host, port) = Self.split(authority)
        // Nothing after the colon is the scheme's own port.
        if let port, !port.isEmpty {
            guard port.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let number = UInt16(port)
            else {
                return "The endpoint's port is no number."
            }
            if number != 443, !allowsPrivate { return "The endpoint's port is not 443." }
        }
        guard !Self.isAddress(host) else { return allowsPrivate ? nil : "The endpoint's host is an IP address." }
        guard Self.isName(host) else { return "The endpoint's host is no name." }
        guard isAllowed(host) else { return "The endpoint's host is not on the list of push services." }
        return nil
    }

    private func isAllowed(_ host: String) -> Bool {
        guard let hosts else { return true }
        return hosts.contains { allowed in
            guard allowed.hasPrefix("*.") else { return allowed == host }
            let suffix = allowed.dropFirst()
            return host.hasSuffix(suffix) && host.utf8.count > suffix.utf8.count
        }
    }

    private static func authority(_ bytes: [UInt8]) -> ArraySlice<UInt8>? {
        let prefix = Array("https://".utf8)
        guard bytes.count > prefix.count, zip(bytes, prefix).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else { return nil }
        let rest = bytes[prefix.count...]
        return rest.prefix { byte in
            // Browsers take a backslash for a slash; a host never holds either.
            byte != UInt8(ascii: "/") && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
                && byte != UInt8(ascii: "\\")
        }
    }

    /// Host in lower case, without a last dot; port as written.
    private static func split(_ authority: ArraySlice<UInt8>) -> (host: String, port: String?) {
        let text = String(decoding: authority, as: UTF8.self).lowercased()
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            let rest = text[text.index(after: end)...]
            return (String(text[...end]), rest.isEmpty ? nil : String(rest.dropFirst()))
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
        let host = parts[0].hasSuffix(".") ? String(parts[0].dropLast()) : parts[0]
        return (host, parts.count > 1 ? parts[1] : nil)
    }

    /// `[::1]`, `127.0.0.1`, and what resolvers take for one: `2130706433`, `0x7f.1`, `0177.0.0.1`.
    private static func isAddress(_ host: String) -> Bool {
        guard !host.hasPrefix("[") else { return true }
        guard let last = host.split(separator: ".").last else { return false }
        return last.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } || last.hasPrefix("0x")
    }

    /// A DNS name: labels of at most 63 letters, digits, `-` and `_`, 253 in all.
    private static func isName(_ host: String) -> Bool {
        guard 1...253 ~= host.utf8.count else { return false }
        return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            1...63 ~= label.utf8.count
                && label.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                        UInt8(ascii: "-"), UInt8(ascii: "_"):
                        true
                    default: false
                    }
                }
        }
    }
}
