import Glibc

/// A signal that ends a process.
package struct UnixSignal: Hashable, Sendable, CustomStringConvertible {
    let rawValue: Int32

    /// A service manager's request to end.
    package static let sigterm = UnixSignal(rawValue: SIGTERM)
    /// Ctrl-C.
    package static let sigint = UnixSignal(rawValue: SIGINT)

    package var description: String {
        switch rawValue {
        case SIGTERM: "SIGTERM"
        case SIGINT: "SIGINT"
        default: "signal \(rawValue)"
        }
    }
}
