import Glibc
import Testing

/// Binds a socket to a free port of 127.0.0.1.
func bindToLoopback(_ file: Int32) throws -> UInt16 {
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(file, $0, length) == 0 && getsockname(file, $0, &length) == 0
        }
    }
    try #require(isBound)
    return UInt16(bigEndian: address.sin_port)
}

/// A blocking socket that is connected to a port of 127.0.0.1.
func connectToLoopback(port: UInt16) -> Int32 {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = loopback(port: port)
    let code = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    #expect(code == 0)
    return file
}

private func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}
