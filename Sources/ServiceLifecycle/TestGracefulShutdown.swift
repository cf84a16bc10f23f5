/// Asks the operation of a `testGracefulShutdown` to come to an end.
package struct GracefulShutdownTestTrigger: Sendable {
    fileprivate let shutdown: GracefulShutdown

    package func triggerGracefulShutdown() { shutdown.begin() }
}

/// Runs `operation` as a service runs in a group, with a shutdown that the test triggers.
package func testGracefulShutdown<Result>(
    operation: (GracefulShutdownTestTrigger) async throws -> Result
) async rethrows -> Result {
    let shutdown = GracefulShutdown()
    return try await GracefulShutdown.$current.withValue(shutdown) {
        try await operation(GracefulShutdownTestTrigger(shutdown: shutdown))
    }
}
