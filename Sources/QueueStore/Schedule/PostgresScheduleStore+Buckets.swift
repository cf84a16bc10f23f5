import Domain
import Postgres

extension PostgresScheduleStore {
    package func rotateBucketIfNeeded() async throws {
        guard let row = try await client.query(.bucketToSeal, deadline: .seconds(5)).first else { return }
        _ = try await client.query(.rotateBucket(seen: row.int32OrNil(0)), deadline: .seconds(10))
    }
}

extension PostgresQuery {
    /// The current bucket, if it is old (6 hours) or full: 20 million jobs have some 1.5 GB, and the size of a table is
    /// known exactly where the number of its rows is an estimate. NULL when there is no bucket at all.
    static let bucketToSeal: PostgresQuery = """
        SELECT current.id
        FROM (SELECT max(bucket.id) AS id FROM pushfleet.bucket WHERE bucket.sealed_at IS NULL) current
        LEFT JOIN pushfleet.bucket ON bucket.id = current.id
        WHERE current.id IS NULL
            OR bucket.opened_at < now() - interval '6 hours'
            OR pg_relation_size(to_regclass('pushfleet.job_' || current.id)) >= 1500000000
        """

    static func rotateBucket(seen: Int32?) -> PostgresQuery {
        "SELECT pushfleet.rotate_bucket(\(seen))"
    }
}
