import Domain
import Postgres

/// A subscriber as an import gives it, checked by whoever read it.
package struct ImportedSubscriber: Sendable {
    package var externalID: String
    package var userID: String?
    package var transport: TransportKind
    /// Web Push: which push service; else 0.
    package var service: Int16 = 0
    package var address: String
    /// APNs: 0 unknown, 1 production, 2 sandbox.
    package var environment: Int16 = 0
    package var p256dh: String?
    package var auth: String?
    package var language: String?
    /// IANA name; one that PostgreSQL does not know is left out.
    package var timeZone: String?
    /// A JSON object.
    package var attributes = "{}"
    package var tags: [String] = []
    package var registeredAt: Instant?
    package var seenAt: Instant?

    package init(externalID: String, transport: TransportKind, address: String) {
        self.externalID = externalID
        self.transport = transport
        self.address = address
    }
}

package struct ImportCount: Codable, Sendable, Equatable {
    package var created = 0
    package var updated = 0
    package init() {}
}

extension AdminStore {
    /// Creates or updates subscribers by their external id, in one statement, so that a pooler may give each chunk another
    /// connection and an import that was cut off can be repeated from its start.
    /// - Parameter subscribers: some thousands at a time. Of two with the same external id the later one counts.
    package func importSubscribers(
        _ subscribers: [ImportedSubscriber], app: String, zones: Set<String>
    ) async throws -> ImportCount {
        var count = ImportCount()
        guard !subscribers.isEmpty else { return count }
        let query = ImportStatement(app: app, subscribers: subscribers, zones: zones).query
        let row = try await client.query(query, deadline: .seconds(120))[0]
        guard row.bool(2) else { throw AdminError.unknownApp(app) }
        count.created = Int(row.int64(0))
        count.updated = Int(row.int64(1))
        return count
    }

    /// The zones that this server knows: asked once for a whole import, since the answer costs a tenth of a second.
    package func timeZones() async throws -> Set<String> {
        Set(try await client.query("SELECT name FROM pg_timezone_names").map { $0.string(0) })
    }
}

/// A changed address is another address: its version rises, it is active again, and it counts as registered anew.
struct ImportStatement {
    let app: String
    let subscribers: [ImportedSubscriber]
    let zones: Set<String>

    /// Between tags, as no array of arrays of different lengths is a value of PostgreSQL.
    private static let separator = "\u{1F}"

    var query: PostgresQuery {
        let knownZones = subscribers.map { $0.timeZone.flatMap { zones.contains($0) ? $0 : nil } }
        let tags = subscribers.map { $0.tags.joined(separator: Self.separator) }
        return """
            WITH this AS MATERIALIZED (
                SELECT app.id, app.shards FROM pushfleet.app WHERE app.name = \(app)
            ),
            row AS (
                SELECT DISTINCT ON (i.external_id) i.external_id, i.user_id, i.transport, i.service, i.address,
                    i.environment, i.p256dh, i.auth, i.language, i.time_zone, i.attributes, i.tags, i.registered_at,
                    i.seen_at
                FROM unnest(
                    \(subscribers.map(\.externalID)), \(subscribers.map(\.userID)),
                    \(subscribers.map(\.transport.rawValue)), \(subscribers.map(\.service)),
                    \(subscribers.map(\.address)), \(subscribers.map(\.environment)), \(subscribers.map(\.p256dh)),
                    \(subscribers.map(\.auth)), \(subscribers.map(\.language)), \(knownZones),
                    \(subscribers.map(\.attributes)), \(tags), \(subscribers.map { $0.registeredAt?.timestamp }),
                    \(subscribers.map { $0.seenAt?.timestamp })
                ) WITH ORDINALITY AS i (
                    external_id, user_id, transport, service, address, environment, p256dh, auth, language, time_zone,
                    attributes, tags, registered_at, seen_at, position
                )
                ORDER BY i.external_id, i.position DESC
            ),
            put AS (
                INSERT INTO pushfleet.subscriber AS known (
                    shard, app_id, transport, service, environment, registered_at, seen_at, external_id, user_id,
                    address, p256dh, auth, language, time_zone, tags, attributes
                )
                SELECT
                    this.shards[1 + (hashtextextended(row.external_id, this.id) & 9223372036854775807)
                        % cardinality(this.shards)],
                    this.id, row.transport, row.service, row.environment, coalesce(row.registered_at, now()),
                    row.seen_at, row.external_id, row.user_id, row.address, row.p256dh, row.auth, row.language,
                    row.time_zone, string_to_array(row.tags, \(Self.separator)), row.attributes::jsonb
                FROM row
                CROSS JOIN this
                ORDER BY row.external_id
                ON CONFLICT (shard, app_id, external_id) DO UPDATE
                SET transport = excluded.transport,
                    service = excluded.service,
                    environment = excluded.environment,
                    seen_at = coalesce(excluded.seen_at, known.seen_at),
                    user_id = excluded.user_id,
                    address = excluded.address,
                    p256dh = excluded.p256dh,
                    auth = excluded.auth,
                    language = excluded.language,
                    time_zone = excluded.time_zone,
                    tags = excluded.tags,
                    attributes = excluded.attributes,
                    address_version = known.address_version
                        + ((known.transport, known.address) <> (excluded.transport, excluded.address))::int,
                    state = CASE
                        WHEN (known.transport, known.address) <> (excluded.transport, excluded.address) THEN 1
                        ELSE known.state
                    END,
                    state_since = CASE
                        WHEN (known.transport, known.address) <> (excluded.transport, excluded.address)
                        THEN excluded.state_since
                        ELSE known.state_since
                    END,
                    evidence = CASE
                        WHEN (known.transport, known.address) <> (excluded.transport, excluded.address) THEN NULL
                        ELSE known.evidence
                    END,
                    registered_at = CASE
                        WHEN (known.transport, known.address) <> (excluded.transport, excluded.address)
                        THEN excluded.registered_at
                        ELSE known.registered_at
                    END
                RETURNING known.xmax = 0 AS is_new
            )
            SELECT count(*) FILTER (WHERE put.is_new), count(*) FILTER (WHERE NOT put.is_new),
                EXISTS (SELECT FROM this)
            FROM put
            """
    }
}
