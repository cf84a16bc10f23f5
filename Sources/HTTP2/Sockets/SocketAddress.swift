import CLinux
import Glibc

/// An IPv4 or IPv6 address with its port.
struct SocketAddress: Sendable {
    private var storage: sockaddr_storage
    let length: socklen_t

    var family: Int32 { Int32(storage.ss_family) }

    init(copying address: UnsafePointer<sockaddr>, length: socklen_t) {
        var storage = sockaddr_storage()
        memcpy(&storage, address, min(Int(length), MemoryLayout<sockaddr_storage>.size))
        self.storage = storage
        self.length = length
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }

    /// The port lies at the same place in both families.
    var port: UInt16 {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
        }
    }

    /// 4 or 16 bytes, in network order.
    var bytes: [UInt8] {
        withUnsafePointer(to: storage) { pointer in
            if family == AF_INET {
                return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                    withUnsafeBytes(of: address.pointee.sin_addr) { Array($0) }
                }
            }
            return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin6_addr) { Array($0) }
            }
        }
    }

    /// The one that a socket is bound to.
    init?(boundTo file: Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(file, $0, &length) }
        }
        guard code == 0 else { return nil }
        self.storage = storage
        self.length = length
    }

    /// Looks a name up, as getaddrinfo(3) does; blocks, for seconds if a name server does not answer.
    /// - Parameter numeric: the host is an address in text, so that nothing is looked up.
    /// - Returns: in the order of preference (RFC 6724); empty if there is none.
    static func resolve(_ host: String, port: UInt16, numeric: Bool, passive: Bool = false) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV | (numeric ? AI_NUMERICHOST : 0) | (passive ? AI_PASSIVE : 0)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var addresses: [SocketAddress] = []
        var next = first
        while let info = next?.pointee {
            if let address = info.ai_addr, info.ai_family == AF_INET || info.ai_family == AF_INET6 {
                addresses.append(SocketAddress(copying: address, length: info.ai_addrlen))
            }
            next = info.ai_next
        }
        return addresses
    }
}
