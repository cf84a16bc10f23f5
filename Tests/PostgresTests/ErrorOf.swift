import Postgres
import Testing

/// The error that the operation throws; nil when it throws none. Any other than the module's own fails the test.
func errorOf<Result>(_ operation: () async throws -> Result) async -> PostgresError? {
    do {
        _ = try await operation()
    } catch let error as PostgresError {
        return error
    } catch {
        Issue.record(error)
    }
    return nil
}
