import Domain
import Postgres

extension AdminStore {
    /// Defines an Android channel; one of that id takes the new definition. Content versions keep the one that they have.
    package func defineChannel(app: String, _ channel: AndroidChannel) async throws {
        let id = try await appID(app).rawValue
        _ = try await client.query(
            """
            INSERT INTO pushfleet.channel (
                app_id, id, name, importance, description, sound, vibration, lights, badge
            )
            VALUES (
                \(id), \(channel.id), \(channel.name), \(channel.importance.rawValue), \(channel.description),
                \(channel.sound), \(channel.vibration), \(channel.lights), \(channel.badge)
            )
            ON CONFLICT (app_id, id) DO UPDATE
            SET name = excluded.name, importance = excluded.importance, description = excluded.description,
                sound = excluded.sound, vibration = excluded.vibration, lights = excluded.lights,
                badge = excluded.badge
            """)
    }

    package func channels(app: String) async throws -> [AndroidChannel] {
        let id = try await appID(app).rawValue
        let rows = try await client.query(
            """
            SELECT id, name, importance, description, sound, vibration, lights, badge
            FROM pushfleet.channel
            WHERE app_id = \(id)
            ORDER BY id
            """)
        return try rows.map { row in
            guard let importance = AndroidChannel.Importance(rawValue: row.string(2)) else {
                throw AdminError("channel: '\(row.string(0))' has an importance that this version does not know")
            }
            return AndroidChannel(
                id: row.string(0), name: row.string(1), importance: importance, description: row.stringOrNil(3),
                sound: row.stringOrNil(4), vibration: row.boolOrNil(5), lights: row.boolOrNil(6),
                badge: row.boolOrNil(7))
        }
    }

    /// - Returns: false where there was none.
    package func removeChannel(app: String, id channel: String) async throws -> Bool {
        let id = try await appID(app).rawValue
        return try await client.query("DELETE FROM pushfleet.channel WHERE app_id = \(id) AND id = \(channel)")
            .affected > 0
    }

    package func setFCMMode(app: String, _ mode: DeliveryOptions.FCMMode) async throws {
        let id = try await appID(app).rawValue
        _ = try await client.query(
            "UPDATE pushfleet.app SET fcm_mode = \(Int16(mode == .notification ? 1 : 0)) WHERE id = \(id)")
    }
}
