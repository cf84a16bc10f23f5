/// Which authorities a server's certificate may come from. The server's name is always checked too. They are read when
/// the client first connects, and again after a certificate was not accepted: what was replaced meanwhile counts.
package enum TLSTrust: Sendable {
    /// Those of the operating system.
    case system
    /// Those of a PEM file only.
    case file(String)
}
