/// A network: `10.0.0.0/8`, `fd00::/8`, or one address, `127.0.0.1`.
package struct AddressRange: Sendable, Equatable {
    private let prefix: [UInt8]
    private let bits: Int

    /// - Returns: nil for anything but an address, and perhaps a slash and a number of bits that it has.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = SocketAddress.resolve(String(parts[0]), port: 0, numeric: true).first else { return nil }
        prefix = address.bytes
        guard parts.count == 2 else {
            bits = prefix.count * 8
            return
        }
        guard let bits = Int(parts[1]), (0...(prefix.count * 8)).contains(bits) else { return nil }
        self.bits = bits
    }

    func contains(_ address: SocketAddress) -> Bool {
        let bytes = address.bytes
        return bytes.count == prefix.count && SocketAddress.matches(bytes, prefix, bits: bits)
    }
}
