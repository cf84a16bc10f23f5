import Domain
import Postgres

extension AdminStore {
    /// - Parameter perSecond: for all of its routes together; nil = no limit.
    package func setRate(ofApp app: String, perSecond: Int32?) async throws {
        let id = try await appID(app).rawValue
        _ = try await client.query("UPDATE pushfleet.app SET rate = \(perSecond) WHERE id = \(id)")
    }

    /// - Parameters:
    ///   - perSecond: for each of its routes; nil = no limit.
    ///   - ramp: from the first request after a silence to the full rate, above 1,000 a second; nil = as it is.
    package func setRate(
        ofCredential name: String, app: String, perSecond: Int32?, ramp: Duration?
    ) async throws {
        let id = try await appID(app).rawValue
        let routes = try await client.query(
            """
            UPDATE pushfleet.route
            SET rate = \(perSecond), ramp = coalesce(\(ramp.map { PostgresInterval($0) }), route.ramp)
            FROM pushfleet.credential
            WHERE credential.app_id = \(id) AND credential.name = \(name) AND route.credential_id = credential.id
            RETURNING route.id
            """)
        guard !routes.isEmpty else {
            throw AdminError("name: app '\(app)' has no credential '\(name)'; see: pushfleet credential list")
        }
    }

    /// - Parameter perSecond: nil = no limit.
    /// - Returns: false if the run is over, or unknown.
    package func setRate(of run: Run.ID, perSecond: Int32?) async throws -> Bool {
        let rows = try await client.query(
            """
            UPDATE pushfleet.run SET rate = \(perSecond)
            WHERE id = \(run.rawValue) AND status IN (1, 2)
            RETURNING id
            """)
        return rows.count == 1
    }
}
