import Domain
import Postgres

extension PostgresFragment {
    /// Seconds since a scheduler put the lanes in order last, which it does every second; NULL = none ever did.
    static let schedulerAge: PostgresFragment = """
        (
            SELECT extract(epoch FROM now() - max(c.refreshed_at) FILTER (WHERE isfinite(c.refreshed_at)))
            FROM pushfleet.lane_clock c
        )
        """
}

extension PostgresQuery {
    /// The shards of all apps, which are those that hold work.
    static let shards: PostgresQuery = """
        SELECT DISTINCT unnest(shards)
        FROM pushfleet.app
        ORDER BY 1
        """

    /// The start of the statement's transaction, which is the statement.
    static let now: PostgresQuery = "SELECT now()"

    static let ensureDays: PostgresQuery = """
        SELECT pushfleet.ensure_days()::text, pushfleet.ensure_standing_runs()::text
        """
}

extension PostgresClient {
    func shards() async throws(PostgresError) -> [Shard] {
        try await query(.shards, deadline: .seconds(5)).map { Shard(rawValue: $0.int16(0)) }
    }

    /// The database's clock.
    func databaseNow() async throws(PostgresError) -> Instant {
        Instant(microseconds: try await query(.now, deadline: .seconds(5))[0].timestampMicroseconds(0))
    }
}

extension Instant {
    var timestamp: PostgresTimestamp { PostgresTimestamp(microseconds: microseconds) }
}

extension WorkerID {
    var uuid: PostgresUUID { PostgresUUID(description) }
}

extension OrdinalSet {
    var bits: PostgresBits { PostgresBits(bytes: bytes, count: count) }
}
