import Domain
import FoundationEssentials
import Postgres

/// One import of a file, chunk by chunk. It knows its own transactions, and so finds an id that an earlier line of the
/// file brought without a list of ids: PostgreSQL keeps with each row which transaction wrote it.
package struct ImportSession: Sendable {
    private let client: PostgresClient
    private let app: Int64
    /// Of this import: one for each chunk, as `xmin` shows them.
    private var transactions: [Int64] = []

    package struct Taken: Sendable {
        package var added: Int64 = 0
        package var changed: Int64 = 0
        package var refused: [RefusedLine] = []
    }

    init(client: PostgresClient, app: Int64) {
        self.client = client
        self.app = app
    }

    /// Takes a chunk, some thousands of lines, in one transaction. A line that the database cannot hold is refused and
    /// loses no other: the chunk is halved until it stands alone.
    /// - Throws: `PostgresError` when the database fails as such; the chunks before stay imported.
    package mutating func take(_ chunk: ArraySlice<ImportedSubscriber>) async throws -> Taken {
        guard let first = chunk.first else { return Taken() }
        do {
            return try await merge(chunk)
        } catch {
            guard let failure = error as? PostgresError, failure.concernsValues else { throw error }
            guard chunk.count > 1 else {
                return Taken(refused: [.unstorable(first.line, code: failure.sqlState ?? "-")])
            }
        }
        let middle = chunk.startIndex + chunk.count / 2
        var taken = try await take(chunk[..<middle])
        let rest = try await take(chunk[middle...])
        taken.added += rest.added
        taken.changed += rest.changed
        taken.refused += rest.refused
        return taken
    }

    private mutating func merge(_ chunk: ArraySlice<ImportedSubscriber>) async throws -> Taken {
        let rows = copyText(of: chunk)
        let (app, transactions) = (app, transactions)
        let (transaction, taken) = try await client.withTransaction(deadline: .seconds(120)) { connection in
            _ = try await connection.query(.createStaging)
            _ = try await connection.copyIn(
                """
                COPY pg_temp.subscriber_import (
                    line, external_id, user_id, transport, address, environment, p256dh, auth, language, time_zone,
                    attributes, tags, registered_at, vapid_key
                ) FROM STDIN
                """, chunks: rows, deadline: .seconds(120))
            let row = try await connection.query(
                .mergeStaging(app: app, transactions: transactions), deadline: .seconds(120))[0]
            let refused = row.int64Array(3).map { RefusedLine.repeated(Int($0)) }
            return (row.int64(0), Taken(added: row.int64(1), changed: row.int64(2), refused: refused))
        }
        self.transactions.append(transaction)
        return taken
    }

    /// Pieces of some 64 KiB.
    private func copyText(of chunk: ArraySlice<ImportedSubscriber>) -> [[UInt8]] {
        var row = CopyTextRow()
        var pieces: [[UInt8]] = []
        var text: [UInt8] = []
        for subscriber in chunk {
            append(subscriber, &row, to: &text)
            guard text.count >= 65_536 else { continue }
            pieces.append(text)
            text.removeAll(keepingCapacity: true)
        }
        pieces.append(text)
        return pieces
    }

    private func append(_ subscriber: ImportedSubscriber, _ row: inout CopyTextRow, to text: inout [UInt8]) {
        row.append(Int64(subscriber.line) as Int64?)
        row.append(subscriber.externalID as String?)
        row.append(subscriber.userID)
        row.append(Int64(subscriber.transport.rawValue) as Int64?)
        row.append(subscriber.address as String?)
        row.append(subscriber.environment.map { $0 == .production ? 1 : 2 } ?? 0 as Int64?)
        row.append(subscriber.p256dh.map { Data($0).base64EncodedString() })
        row.append(subscriber.auth.map { Data($0).base64EncodedString() })
        row.append(subscriber.language)
        row.append(subscriber.timeZone)
        row.append(subscriber.attributes as String?)
        row.append(subscriber.tags)
        row.append(subscriber.registeredAt)
        row.append(subscriber.vapidKey)
        row.end(into: &text)
    }
}

extension AdminStore {
    /// - Throws: `AdminError` when there is no such app.
    package func beginImport(app name: String) async throws -> ImportSession {
        ImportSession(client: client, app: try await appID(name).rawValue)
    }
}

extension PostgresError {
    /// Some row's value is at fault, not the connection or the server.
    var concernsValues: Bool {
        switch code {
        case .invalidValue, .checkViolation, .notNullViolation: true
        // What no type's limit names: a row too wide for its index, a document too large for jsonb.
        default: sqlState?.hasPrefix("54") == true
        }
    }
}

extension PostgresQuery {
    /// Of one transaction, so that a pooler may give each chunk another session.
    fileprivate static var createStaging: PostgresQuery {
        """
        CREATE TEMPORARY TABLE subscriber_import (
            line bigint, external_id text COLLATE "C", user_id text, transport smallint, address text,
            environment smallint, p256dh text, auth text, language text, time_zone text, attributes jsonb, tags text[],
            registered_at timestamptz, vapid_key text
        ) ON COMMIT DROP
        """
    }

    /// Moves the staged rows into subscriber. Of lines with one id the first counts; those whose id this import has
    /// written already change nothing and are returned. A changed address raises its version, revives the subscriber
    /// and counts as a new registration.
    /// - Returns: this transaction, rows added, rows changed, lines with repeated ids.
    fileprivate static func mergeStaging(app: Int64, transactions: [Int64]) -> PostgresQuery {
        """
        WITH first AS (
            SELECT DISTINCT ON (staged.external_id) staged.line, staged.external_id, staged.user_id, staged.transport,
                staged.address, staged.environment, staged.p256dh, staged.auth, staged.language, staged.time_zone,
                staged.attributes, staged.tags, staged.vapid_key,
                -- A device whose clock is ahead registers now. now() itself stands for one that does not say.
                CASE
                    WHEN staged.registered_at IS NULL THEN now()
                    ELSE least(staged.registered_at, now() - interval '1 microsecond')
                END AS registered_at
            FROM pg_temp.subscriber_import staged
            ORDER BY staged.external_id, staged.line
        ),
        merged AS (
            INSERT INTO pushfleet.subscriber AS known (
                shard, app_id, transport, service, environment, external_id, user_id, address, p256dh, auth, language,
                time_zone, attributes, tags, registered_at, vapid_credential
            )
            SELECT
                app.shards[1 + abs(hashtextextended(first.external_id, app.id) % cardinality(app.shards))],
                app.id, first.transport,
                CASE
                    WHEN first.transport <> 3 THEN 0
                    WHEN first.address LIKE 'https://fcm.googleapis.com/%' THEN 1
                    WHEN first.address LIKE 'https://%push.services.mozilla.com/%' THEN 2
                    WHEN first.address LIKE 'https://web.push.apple.com/%' THEN 3
                    WHEN first.address LIKE 'https://%.notify.windows.com/%' THEN 4
                    ELSE 5
                END,
                first.environment, first.external_id, first.user_id, first.address, first.p256dh, first.auth,
                first.language, first.time_zone, first.attributes, first.tags, first.registered_at,
                (
                    SELECT max(credential.id)
                    FROM pushfleet.credential
                    WHERE credential.app_id = app.id AND credential.transport = 3
                        AND credential.facts ->> 'public_key' = first.vapid_key
                )
            FROM first
            JOIN pushfleet.app ON app.id = \(app)
            ON CONFLICT (shard, app_id, external_id) DO UPDATE
            SET transport = excluded.transport, service = excluded.service, environment = excluded.environment,
                user_id = excluded.user_id, p256dh = excluded.p256dh, auth = excluded.auth,
                language = excluded.language, time_zone = excluded.time_zone, attributes = excluded.attributes,
                tags = excluded.tags, address = excluded.address,
                address_version = known.address_version
                    + ((known.transport, known.address) <> (excluded.transport, excluded.address))::int,
                state = CASE
                    WHEN (known.transport, known.address) <> (excluded.transport, excluded.address) THEN 1
                    -- Signed for with another key than the browser's, which is named now.
                    WHEN known.state = 4 AND known.vapid_credential IS DISTINCT FROM excluded.vapid_credential
                        AND excluded.vapid_credential IS NOT NULL
                        THEN 1
                    -- It registered, as the file says, after what was said against it.
                    WHEN excluded.registered_at > known.state_since AND excluded.registered_at <> now() THEN 1
                    ELSE known.state
                END,
                vapid_credential = CASE
                    WHEN (known.transport, known.address) <> (excluded.transport, excluded.address)
                        THEN excluded.vapid_credential
                    ELSE coalesce(excluded.vapid_credential, known.vapid_credential)
                END,
                state_since = CASE
                    WHEN (known.transport, known.address) <> (excluded.transport, excluded.address)
                        THEN excluded.registered_at
                    WHEN known.state <> 1
                        AND excluded.registered_at > known.state_since
                        AND excluded.registered_at <> now()
                    THEN excluded.registered_at
                    ELSE known.state_since
                END,
                evidence = CASE
                    WHEN (known.transport, known.address) <> (excluded.transport, excluded.address) THEN NULL
                    WHEN excluded.registered_at > known.state_since AND excluded.registered_at <> now() THEN NULL
                    ELSE known.evidence
                END,
                registered_at = CASE
                    WHEN (known.transport, known.address) <> (excluded.transport, excluded.address)
                        THEN excluded.registered_at
                    -- The file said nothing of it.
                    WHEN excluded.registered_at = now() THEN known.registered_at
                    ELSE least(greatest(known.registered_at, excluded.registered_at), now())
                END
            WHERE NOT known.xmin::text::bigint = ANY(\(transactions))
            RETURNING known.external_id, known.xmax = 0 AS is_new
        ),
        repeated AS (
            SELECT staged.line FROM pg_temp.subscriber_import staged
            WHERE NOT EXISTS (SELECT FROM first WHERE first.line = staged.line)
                OR NOT EXISTS (SELECT FROM merged WHERE merged.external_id = staged.external_id)
        )
        SELECT
            -- xmin has 32 bits.
            pg_current_xact_id()::text::bigint & 4294967295,
            (SELECT count(*) FROM merged WHERE is_new), (SELECT count(*) FROM merged WHERE NOT is_new),
            (SELECT coalesce(array_agg(line ORDER BY line), '{}') FROM repeated)
        """
    }
}
