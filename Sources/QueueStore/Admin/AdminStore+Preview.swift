import Domain
import FoundationEssentials
import Postgres

/// What a preview takes of an app.
package struct AppContentSettings: Sendable {
    package let fcmMode: DeliveryOptions.FCMMode
    package let channels: [AndroidChannel]
    /// The app's credentials, oldest first. Web Push can have several, of which the newest says how messages look.
    package let credentials: [Credential]

    package struct Credential: Sendable {
        package let id: Domain.Credential.ID
        package let name: String
        package let transport: TransportKind
        package let file: String
        package let endpoint: String?
        /// What may be known of its file, as `credential add` writes it.
        package let facts: [String: String]
    }
}

/// A subscriber as a message is made for it.
package struct SubscriberForPreview: Sendable {
    package let id: Int64
    package let transport: TransportKind
    /// Web Push: whose push service it is, as routes have it; else 0.
    package let service: Int16
    package let address: Address
    package let language: String?
    /// Scalars only, as texts.
    package let attributes: [String: String]

    package init(
        id: Int64, transport: TransportKind, service: Int16 = 0, address: Address, language: String?,
        attributes: [String: String]
    ) {
        self.id = id
        self.transport = transport
        self.service = service
        self.address = address
        self.language = language
        self.attributes = attributes
    }
}

extension AdminStore {
    package func contentSettings(app: String) async throws -> AppContentSettings {
        let id = try await appID(app).rawValue
        let mode = try await client.query("SELECT fcm_mode FROM pushfleet.app WHERE id = \(id)")[0].int16(0)
        let rows = try await client.query(
            """
            SELECT c.id, c.name, c.transport, c.file, c.endpoint, c.facts::text
            FROM pushfleet.credential c
            WHERE c.app_id = \(id)
            ORDER BY c.id
            """)
        return AppContentSettings(
            fcmMode: mode == 1 ? .notification : .data, channels: try await channels(app: app),
            credentials: try rows.map { row in
                AppContentSettings.Credential(
                    id: .init(row.int64(0)), name: row.string(1),
                    transport: try stored(row.int16(2), "credential.transport"), file: row.string(3),
                    endpoint: row.stringOrNil(4),
                    facts: try JSONDecoder().decode([String: String].self, from: Data(row.string(5).utf8)))
            })
    }

    /// - Returns: nil where the app has no such subscriber.
    package func subscriberForPreview(
        app: String, id subscriber: Int64, attributes names: [String]
    ) async throws -> SubscriberForPreview? {
        let id = try await appID(app).rawValue
        let rows = try await client.query(
            """
            SELECT s.transport, s.service, s.address, s.environment, s.p256dh, s.auth, s.vapid_credential, s.language,
                ARRAY(
                    SELECT CASE
                        WHEN jsonb_typeof(s.attributes -> name.name) IN ('string', 'number', 'boolean')
                        THEN s.attributes ->> name.name
                    END
                    FROM unnest(\(names)) WITH ORDINALITY AS name (name, position)
                    ORDER BY name.position
                )
            FROM pushfleet.subscriber s
            WHERE s.shard = ANY (SELECT unnest(shards) FROM pushfleet.app WHERE id = \(id))
                AND s.app_id = \(id) AND s.id = \(subscriber)
            """)
        guard let row = rows.first else { return nil }
        let values = row.textArray(8)
        return SubscriberForPreview(
            id: subscriber, transport: try stored(row.int16(0), "subscriber.transport"),
            service: row.int16(1),
            address: Address(
                text: row.string(2), environment: try stored(row.int16(3), "subscriber.environment"),
                p256dh: row.stringOrNil(4), auth: row.stringOrNil(5),
                vapidKey: row.int64OrNil(6).map { Domain.Credential.ID($0) }),
            language: row.stringOrNil(7),
            attributes: Dictionary(
                uniqueKeysWithValues: zip(names, values).compactMap { name, value in value.map { (name, $0) } }))
    }

    /// The longest value of each attribute among the audience's active subscribers, as JSON writes it: no one of them need
    /// have all. Reads every subscriber once.
    /// - Parameter audience: nil = all.
    package func largestValues(
        app: String, audience: Audience? = nil, attributes names: [String]
    ) async throws -> [String: String] {
        guard !names.isEmpty else { return [:] }
        let id = try await appID(app).rawValue
        let whole = try await writtenOut(audience ?? .all, app: App.ID(id))
        let predicate = try whole.predicate()
        let rows = try await client.query(
            """
            SELECT DISTINCT ON (name.name) name.name, s.attributes ->> name.name
            FROM pushfleet.subscriber s
            CROSS JOIN unnest(\(names)) AS name (name)
            WHERE s.shard = ANY (SELECT unnest(shards) FROM pushfleet.app WHERE id = \(id))
                AND s.app_id = \(id)
                AND s.state IN (1, 2)
                AND \(predicate)
                AND jsonb_typeof(s.attributes -> name.name) IN ('string', 'number', 'boolean')
            ORDER BY name.name, octet_length((s.attributes -> name.name)::text) DESC
            """, deadline: .seconds(120))
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.string(0), $0.string(1)) })
    }
}
