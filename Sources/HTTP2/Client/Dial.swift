import CLinux
import Glibc

/// The search for an address that answers, for one connection (RFC 8305). Belongs to the client's thread.
final class Dial {
    struct Attempt {
        let token: UInt64
        let file: Int32
        let address: SocketAddress
    }

    let giveUpAt: ContinuousClock.Instant
    /// The name is being looked up.
    var isResolving = true
    /// When the next address is tried though another one is still at it.
    var nextAttemptAt: ContinuousClock.Instant?
    private(set) var attempts: [Attempt] = []
    private var addresses: ArraySlice<SocketAddress> = []
    private let poll: EventPoll

    init(giveUpAt: ContinuousClock.Instant, poll: EventPoll) {
        self.giveUpAt = giveUpAt
        self.poll = poll
    }

    deinit { for attempt in attempts { close(attempt.file) } }

    func begin(with addresses: [SocketAddress]) {
        isResolving = false
        self.addresses = addresses[...]
    }

    /// Nothing is under way and nothing is left to try.
    var hasFailed: Bool { !isResolving && attempts.isEmpty && addresses.isEmpty }

    /// Tries the next address; one that fails at once is passed over.
    func startNext(token: () -> UInt64, again delay: Duration, now: ContinuousClock.Instant) {
        while let address = addresses.popFirst() {
            let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            let file = socket(address.family, type, 0)
            guard file >= 0 else { continue }
            var one: Int32 = 1
            setsockopt(file, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
            let code = address.withPointer { connect(file, $0, address.length) }
            guard code == 0 || errno == EINPROGRESS else {
                close(file)
                continue
            }
            let attempt = Attempt(token: token(), file: file, address: address)
            attempts.append(attempt)
            poll.add(file, token: attempt.token, writable: true)
            nextAttemptAt = addresses.isEmpty ? nil : now + delay
            return
        }
        nextAttemptAt = nil
    }

    /// An attempt has ended, one way or the other.
    /// - Returns: the connected socket, which is the caller's from here on; nil if it failed.
    func finish(_ token: UInt64) -> Attempt? {
        guard let index = attempts.firstIndex(where: { $0.token == token }) else { return nil }
        let attempt = attempts.remove(at: index)
        poll.remove(attempt.file)
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let code = getsockopt(attempt.file, SOL_SOCKET, SO_ERROR, &error, &length)
        if code == 0, error == 0 { return attempt }
        close(attempt.file)
        return nil
    }
}
