import Postgres

extension PostgresQuery {
    /// Held to the end of the transaction: whoever migrates comes after whoever migrates now. The key is "pushflee".
    static let lockMigrations: PostgresQuery = "SELECT pg_advisory_xact_lock(x'70757368666c6565'::bigint)::text"

    /// A migration that waits for a lock holds up everybody who comes after it: better to give up than to wait.
    static func limitLockWait(milliseconds: Int64) -> PostgresQuery {
        "SELECT set_config('lock_timeout', (\(milliseconds)::bigint)::text, true)"
    }

    static let usePushfleetSchema: PostgresQuery = "SELECT set_config('search_path', 'pushfleet, pg_temp', true)"

    /// What a file may have set for the session goes, since the connection serves others next.
    static let resetSession: PostgresQuery = "RESET ALL"

    static let hasMigrationTable: PostgresQuery = "SELECT to_regclass('pushfleet.migration') IS NOT NULL"

    static let createMigrationTable: PostgresQuery = """
        CREATE TABLE IF NOT EXISTS pushfleet.migration (
            number int PRIMARY KEY,
            name text NOT NULL,
            lowest_binary int NOT NULL,
            text_hash text NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT now()
        )
        """

    static let dropMigrationTable: PostgresQuery = "DROP TABLE pushfleet.migration"

    /// What has been applied: number, name, lowest binary, instant, and whether the text is the one that is known now,
    /// which is NULL where none is.
    static func appliedMigrations(known: [Migration]) -> PostgresQuery {
        """
        SELECT migration.number, migration.name, migration.lowest_binary, migration.applied_at,
            migration.text_hash = encode(sha256(convert_to(known.text, 'UTF8')), 'hex')
        FROM pushfleet.migration
        LEFT JOIN unnest(\(known.map { Int32($0.number) }), \(known.map(\.up))) AS known (number, text)
            ON known.number = migration.number
        ORDER BY migration.number
        """
    }

    static func insertMigration(_ migration: Migration) -> PostgresQuery {
        """
        INSERT INTO pushfleet.migration (number, name, lowest_binary, text_hash)
        VALUES (\(Int32(migration.number)), \(migration.name), \(Int32(migration.lowestBinary)),
            encode(sha256(convert_to(\(migration.up), 'UTF8')), 'hex'))
        """
    }

    static func deleteMigration(_ number: Int) -> PostgresQuery {
        "DELETE FROM pushfleet.migration WHERE number = \(Int32(number))"
    }
}
