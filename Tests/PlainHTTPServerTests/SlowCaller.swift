import Dispatch
import Glibc

/// A caller that never says all it has to, and never falls silent.
struct SlowCaller {
    enum Part: String, CaseIterable {
        case line = "GET /"
        case headers = "GET / HTTP/1.1\r\nHost: a\r\nX-A: "
        case body = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n"
    }

    struct Failed: Error {}

    /// Sends the part and then a letter every few milliseconds. Returns once the server has hung up.
    static func call(port: UInt16, _ part: Part) async throws {
        let result = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: Result { try talk(port, part) }) }
        }
        try result.get()
    }

    private static func talk(_ port: UInt16, _ part: Part) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failed() }
        var text = part.rawValue
        while text.withCString({ send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL)) }) > 0 {
            text = "a"
            var answer = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&answer, 1, 5) > 0 { return }
        }
    }
}
