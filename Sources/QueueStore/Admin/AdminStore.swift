import Domain
import Postgres

/// What commands ask of the database: apps, credentials, subscribers, campaigns and their figures. Every call is short.
package struct AdminStore: Sendable {
    let client: PostgresClient
    package init(_ client: PostgresClient) { self.client = client }

    /// The id of an app, or an error that names the remedy.
    func appID(_ name: String) async throws -> App.ID {
        let rows = try await client.query("SELECT id FROM pushfleet.app WHERE name = \(name)")
        guard let row = rows.first else {
            throw AdminError("app: '\(name)' does not exist; create it: pushfleet app create \(name)")
        }
        return App.ID(row.int64(0))
    }
}

/// Something that a user asked for and that cannot be; names the field and the remedy.
package struct AdminError: Error, Sendable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
