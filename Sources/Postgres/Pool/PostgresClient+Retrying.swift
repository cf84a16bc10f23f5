import Logging

extension PostgresClient {
    /// Runs `operation` again, after growing delays, while it fails with what may pass (`PostgresError.isTransient`).
    ///
    /// Only for what does no harm twice: a statement whose connection was lost may have taken effect.
    /// - Parameter deadline: past it the last error is thrown. The operation itself is not cut short.
    package func retrying<Result>(
        deadline: Duration, _ operation: () async throws -> Result
    ) async throws -> Result {
        let deadline = ContinuousClock.now + deadline
        var delay = Duration.milliseconds(20)
        while true {
            do {
                return try await operation()
            } catch let error as PostgresError where error.isTransient {
                let pause = delay * Double.random(in: 0.5..<1)
                guard ContinuousClock.now + pause < deadline else { throw error }
                logger.debug("Repeating a PostgreSQL operation", metadata: ["error": "\(error)"])
                try await Task.sleep(for: pause)
                delay = min(delay * 2, .seconds(1))
            }
        }
    }
}
