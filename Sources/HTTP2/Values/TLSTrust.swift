/// Which authorities a server's certificate may come from. The server's name is always checked too.
package enum TLSTrust: Sendable {
    /// Those of the operating system.
    case system
    /// Those of a PEM file only. It is read again for each new connection, so that it may be replaced.
    case file(String)
}
