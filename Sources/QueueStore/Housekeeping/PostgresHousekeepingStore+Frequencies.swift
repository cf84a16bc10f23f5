import Domain
import Postgres

extension PostgresHousekeepingStore {
    package func forgetFrequencies(after place: FrequencyPlace, limit: Int32) async throws -> FrequencyPlace? {
        let row = try await client.query(
            """
            SELECT f.next_app, f.next_user
            FROM pushfleet.forget_frequencies(\(place.app), \(place.user), \(limit)) f
            """, deadline: .seconds(30))[0]
        guard let app = row.int64OrNil(0), let user = row.stringOrNil(1) else { return nil }
        return FrequencyPlace(app: app, user: user)
    }
}
