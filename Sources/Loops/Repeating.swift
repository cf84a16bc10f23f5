import Logging
import ServiceLifecycle

/// Repeats `body` until shutdown, whatever happens: an error is logged and waited out with backoff. A loop of a role
/// ends only with its process.
/// - Parameters:
///   - name: what the loop does, for the log.
///   - draw: uniform in 0..<1, for jitter.
package func repeating(
    _ name: String, logger: Logger, draw: @Sendable () -> Double, _ body: () async throws -> Void
) async {
    var wait = Duration.milliseconds(100)
    while !Task.isShuttingDownGracefully, !Task.isCancelled {
        do {
            try await body()
            wait = .milliseconds(100)
        } catch is CancellationError {
            return
        } catch {
            logger.warning("loop failed", metadata: ["loop": "\(name)", "error": "\(error)"])
            await pause(wait * (0.5 + draw() / 2))
            wait = min(wait * 2, .seconds(2))
        }
    }
}

/// Waits, or returns early at shutdown.
package func pause(_ span: Duration) async {
    do {
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: span) }
    } catch {
        // Shutdown or cancellation: the caller looks for itself.
    }
}
