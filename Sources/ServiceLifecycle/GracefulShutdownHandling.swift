/// Runs `operation`; `handler` is called when a graceful shutdown begins meanwhile, or at once if it has begun.
/// - Parameter handler: runs on whatever thread begins the shutdown, and must not block.
package func withGracefulShutdownHandler<Result>(
    operation: () async throws -> Result, onGracefulShutdown handler: @escaping @Sendable () -> Void
) async rethrows -> Result {
    guard let shutdown = GracefulShutdown.current, let key = shutdown.addHandler(handler) else {
        return try await operation()
    }
    defer { shutdown.removeHandler(key) }
    return try await operation()
}

/// Waits for a graceful shutdown.
/// - Throws: `CancellationError` when the task is cancelled first.
package func gracefulShutdown() async throws {
    let (shutdowns, continuation) = AsyncStream.makeStream(of: Void.self)
    defer { continuation.finish() }
    try await withGracefulShutdownHandler {
        for await _ in shutdowns { return }
        throw CancellationError()
    } onGracefulShutdown: {
        continuation.yield()
    }
}

/// Runs `operation` in a child task that is cancelled when a graceful shutdown begins, and when the caller is cancelled.
/// - Throws: what the operation throws, which on cancellation is up to it.
package func cancelWhenGracefulShutdown<Result: Sendable>(
    _ operation: @escaping @Sendable () async throws -> Result
) async rethrows -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        defer { group.cancelAll() }
        group.addTask { try await operation() }
        group.addTask {
            // Cancelled instead, it has nothing to add: the operation ends by the same cancellation.
            do { try await gracefulShutdown() } catch is CancellationError { return nil }
            return nil
        }
        while let finished = try await group.next() {
            if let result = finished { return result }
            group.cancelAll()
        }
        preconditionFailure("The operation neither returned nor threw.")
    }
}
