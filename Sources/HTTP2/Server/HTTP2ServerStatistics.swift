/// What a server has seen since it started.
package struct HTTP2ServerStatistics: Sendable {
    package internal(set) var acceptedConnections = 0
    package internal(set) var openConnections = 0
    /// Complete ones, whatever was done about them.
    package internal(set) var requests = 0
    /// The most streams that one connection had open after a turn of the loop.
    package internal(set) var maxOpenStreams = 0
}
