import CLinux
import Glibc

extension SocketAddress {
    /// Whether the address is one of the public Internet, by the registries of special-purpose addresses (RFC 6890 and
    /// what was registered since). An address that carries an IPv4 address inside is judged by that one too.
    var isPublic: Bool { family == AF_INET ? Self.isPublic(v4: bytes) : Self.isPublic(v6: bytes) }

    private static let specialV4: [(prefix: [UInt8], bits: Int)] = [
        ([0, 0, 0, 0], 8), ([10, 0, 0, 0], 8), ([100, 64, 0, 0], 10), ([127, 0, 0, 0], 8), ([169, 254, 0, 0], 16),
        ([172, 16, 0, 0], 12), ([192, 0, 0, 0], 24), ([192, 0, 2, 0], 24), ([192, 88, 99, 0], 24),
        ([192, 168, 0, 0], 16), ([198, 18, 0, 0], 15), ([198, 51, 100, 0], 24), ([203, 0, 113, 0], 24),
        ([224, 0, 0, 0], 4), ([240, 0, 0, 0], 4),
    ]

    private static func isPublic(v4 address: [UInt8]) -> Bool {
        !specialV4.contains { matches(address, $0.prefix, bits: $0.bits) }
    }

    private static func isPublic(v6 address: [UInt8]) -> Bool {
        if matches(address, [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0], bits: 96) {  // NAT64 (RFC 6052)
            return isPublic(v4: Array(address[12...]))
        }
        guard matches(address, [0x20], bits: 3) else { return false }  // global unicast is 2000::/3
        if matches(address, [0x20, 0x02], bits: 16) { return isPublic(v4: Array(address[2..<6])) }  // 6to4 (RFC 3056)
        let isProtocolOrTeredo = matches(address, [0x20, 0x01, 0x00], bits: 23)  // 2001::/23 (RFC 2928)
        let isDocumentation =
            matches(address, [0x20, 0x01, 0x0D, 0xB8], bits: 32) || matches(address, [0x3F, 0xFF, 0x00], bits: 20)
        return !isProtocolOrTeredo && !isDocumentation
    }

    static func matches(_ address: [UInt8], _ prefix: [UInt8], bits: Int) -> Bool {
        let whole = bits / 8
        guard address[..<whole] == prefix[..<whole] else { return false }
        let rest = bits % 8
        return rest == 0 || (address[whole] ^ prefix[whole]) >> (8 - rest) == 0
    }
}
