import CMicrohttpd
import Glibc
import Threading

/// The connections that are open, and since when each owes us a whole request.
///
/// The library's own limit is of silence: a connection that sends a byte now and then would hold its place for ever.
final class Callers: Sendable {
    private struct Caller {
        let socket: Int32
        /// nil = its request is whole; the answer is ours to give.
        var owesSince: ContinuousClock.Instant?
    }

    /// By the address of the library's connection. A socket is in it only while the library holds it open.
    private let callers = Locked<[UInt: Caller]>([:])

    func came(_ connection: OpaquePointer) {
        let caller = Caller(socket: cmicrohttpd_socket(connection), owesSince: .now)
        callers.withLock { $0[UInt(bitPattern: connection)] = caller }
    }

    func left(_ connection: OpaquePointer) {
        callers.withLock { $0[UInt(bitPattern: connection)] = nil }
    }

    func isWhole(_ connection: OpaquePointer) {
        callers.withLock { $0[UInt(bitPattern: connection)]?.owesSince = nil }
    }

    /// The next request may come on it.
    func isAnswered(_ connection: OpaquePointer) {
        callers.withLock { $0[UInt(bitPattern: connection)]?.owesSince = .now }
    }

    /// Ends the connections that have owed a request since before `instant`; the library then closes them.
    func hangUp(onThoseSince instant: ContinuousClock.Instant) {
        callers.withLock { callers in
            for (key, caller) in callers {
                guard let since = caller.owesSince, since < instant else { continue }
                callers[key]?.owesSince = nil
                shutdown(caller.socket, Int32(SHUT_RDWR))
            }
        }
    }
}
