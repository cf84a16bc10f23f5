import Domain
import Postgres

extension PostgresHousekeepingStore {
    package func forgetRates(olderThan span: Duration) async throws {
        _ = try await client.query(.forgetRates(olderThan: span), deadline: .seconds(10))
    }
}

extension PostgresQuery {
    static func forgetRates(olderThan span: Duration) -> PostgresQuery {
        """
        DELETE FROM pushfleet.rate_second
        WHERE rate_second.at_second < now() - \(PostgresInterval(span))
        """
    }
}
