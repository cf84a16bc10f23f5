import Glibc

/// In which order the addresses of a name are tried.
enum AddressOrder {
    /// The families take turns, beginning with the preferred one (RFC 8305 §4). Within a family, addresses that fewer of
    /// our connections use come first, and equal ones are rotated, so that connections spread.
    /// - Parameters:
    ///   - addresses: in the order of preference, as the resolver gave them.
    ///   - used: those of the connections that exist.
    ///   - turn: how many connections were tried before.
    static func arrange(_ addresses: [SocketAddress], used: [SocketAddress], turn: Int) -> [SocketAddress] {
        guard let preferred = addresses.first?.family else { return [] }
        let mine = spread(addresses.filter { $0.family == preferred }, used: used, turn: turn)
        let others = spread(addresses.filter { $0.family != preferred }, used: used, turn: turn)
        return (0..<max(mine.count, others.count)).flatMap { index in
            [mine, others].compactMap { index < $0.count ? $0[index] : nil }
        }
    }

    private static func spread(_ addresses: [SocketAddress], used: [SocketAddress], turn: Int) -> [SocketAddress] {
        guard !addresses.isEmpty else { return [] }
        let start = turn % addresses.count
        let rotated = addresses[start...] + addresses[..<start]
        let uses = rotated.map { address in used.count { $0.bytes == address.bytes } }
        let order = rotated.indices.sorted {
            // Array.sorted is stable only by luck: the position decides between equals.
            (uses[$0 - rotated.startIndex], $0) < (uses[$1 - rotated.startIndex], $1)
        }
        return order.map { rotated[$0] }
    }
}
