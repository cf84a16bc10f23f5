import Foundation

/// The logins that a fleet's processes have, each with what its part of the fleet needs and no more
/// (`Deploy/postgresql/roles.sql`). The server must let them in without a password.
package enum FleetLogin: String, CaseIterable, Sendable {
    case owner, scheduler, worker, janitor, all, reporter, intake

    package var name: String { "fleet_" + rawValue }

    /// For a process with these roles, comma-separated.
    package init(roles: String) { self = Self(rawValue: roles) ?? .all }

    /// What makes them, before the first migration.
    static var script: String {
        get throws {
            let file = URL(filePath: #filePath).appending(path: "../../../Deploy/postgresql/roles.sql").standardized
            return try String(contentsOf: file, encoding: .utf8)
        }
    }
}
