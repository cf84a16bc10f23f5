import Domain
import FoundationEssentials
import Postgres

extension AdminStore {
    package struct Imported: Sendable {
        package var added: Int64 = 0
        package var changed: Int64 = 0
    }

    /// Takes one chunk of subscribers, all or nothing: COPY into the staging table, then one statement that inserts or
    /// updates. A changed address raises its version, revives the subscriber and counts as a new registration.
    package func importChunk(_ subscribers: [ImportedSubscriber], app name: String) async throws -> Imported {
        let app = try await appID(name).rawValue
        let importID = UUID().uuidString
        var row = CopyTextRow()
        var text: [UInt8] = []
        for subscriber in subscribers { append(subscriber, importID: importID, &row, to: &text) }
        let chunk = text
        return try await client.withTransaction(deadline: .seconds(60)) { connection in
            _ = try await connection.copyIn(
                """
                COPY pushfleet.subscriber_import (
                    import_id, line, external_id, user_id, transport, address, environment, p256dh, auth, language,
                    time_zone, attributes, tags, registered_at
                ) FROM STDIN
                """, chunks: [chunk], deadline: .seconds(60))
            let rows = try await connection.query(
                .mergeImport(PostgresUUID(importID), app: app), deadline: .seconds(60))
            return Imported(added: rows[0].int64(0), changed: rows[0].int64(1))
        }
    }

    private func append(
        _ subscriber: ImportedSubscriber, importID: String, _ row: inout CopyTextRow, to text: inout [UInt8]
    ) {
        row.append(importID as String?)
        row.append(Int64(subscriber.line) as Int64?)
        row.append(subscriber.externalID as String?)
        row.append(subscriber.userID)
        row.append(String(subscriber.transport.rawValue) as String?)
        row.append(subscriber.address as String?)
        row.append(subscriber.environment.map { $0 == .production ? "1" : "2" } ?? "0" as String?)
        row.append(subscriber.p256dh.map { Data($0).base64EncodedString() })
        row.append(subscriber.auth.map { Data($0).base64EncodedString() })
        row.append(subscriber.language)
        row.append(subscriber.timeZone)
        row.append(subscriber.attributes as String?)
        row.append(subscriber.tags)
        row.append(subscriber.registeredAt)
        row.end(into: &text)
    }
}

extension PostgresQuery {
    /// Moves one import's rows into subscriber and empties the staging table of them.
    static func mergeImport(_ importID: PostgresUUID, app: Int64) -> PostgresQuery {
        """
        WITH staged AS (
            DELETE FROM pushfleet.subscriber_import WHERE import_id = \(importID)
            RETURNING external_id, user_id, transport, address, environment, p256dh, auth, language, time_zone,
                attributes, tags, registered_at
        ),
        merged AS (
            INSERT INTO pushfleet.subscriber AS known (
                shard, app_id, transport, service, environment, external_id, user_id, address, p256dh, auth, language,
                time_zone, attributes, tags, registered_at
            )
            SELECT
                app.shards[1 + abs(hashtextextended(staged.external_id, app.id) % cardinality(app.shards))],
                app.id, staged.transport::smallint,
                CASE
                    WHEN staged.transport <> '3' THEN 0
                    WHEN staged.address LIKE 'https://fcm.googleapis.com/%' THEN 1
                    WHEN staged.address LIKE 'https://%push.services.mozilla.com/%' THEN 2
                    WHEN staged.address LIKE 'https://web.push.apple.com/%' THEN 3
                    WHEN staged.address LIKE 'https://%.notify.windows.com/%' THEN 4
                    ELSE 5
                END,
                staged.environment::smallint, staged.external_id, staged.user_id, staged.address, staged.p256dh,
                staged.auth, staged.language, staged.time_zone, staged.attributes::jsonb, staged.tags::text[],
                coalesce(staged.registered_at::timestamptz, now())
            FROM staged
            JOIN pushfleet.app ON app.id = \(app)
            ON CONFLICT (shard, app_id, external_id) DO UPDATE
            SET transport = excluded.transport, service = excluded.service, environment = excluded.environment,
                user_id = excluded.user_id, p256dh = excluded.p256dh, auth = excluded.auth,
                language = excluded.language, time_zone = excluded.time_zone, attributes = excluded.attributes,
                tags = excluded.tags, address = excluded.address,
                address_version = known.address_version + (known.address <> excluded.address)::int,
                state = CASE WHEN known.address <> excluded.address THEN 1 ELSE known.state END,
                state_since = CASE WHEN known.address <> excluded.address THEN excluded.registered_at
                    ELSE known.state_since END,
                registered_at = excluded.registered_at
            RETURNING address_version, xmax = 0 AS is_new
        )
        SELECT count(*) FILTER (WHERE is_new), count(*) FILTER (WHERE NOT is_new) FROM merged
        """
    }
}
