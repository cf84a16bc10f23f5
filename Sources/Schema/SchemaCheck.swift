import Logging
import Postgres

/// What every process asks before it works.
package enum SchemaCheck {
    /// - Throws: `SchemaError`, whose remedy names the command that mends it: `behind` if a migration of this binary is
    ///   missing, `edited`, `binaryTooOld`. `PostgresError` if the database cannot be asked.
    package static func require(
        _ client: PostgresClient, logger: Logger = Logger(label: "schema")
    ) async throws {
        try await Migrator(client: client, logger: logger).verifyComplete()
    }
}
