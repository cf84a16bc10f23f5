import Postgres

extension PostgresFragment {
    /// Whether the user of the subscriber `s` has another device in the audience that can be sent to and registered
    /// later. `this` is the app's row with its shards.
    static func hasNewerDevice(predicate: PostgresFragment, asOf: PostgresFragment) -> PostgresFragment {
        """
        s.user_id IS NOT NULL AND s.state <= 2 AND EXISTS (
            SELECT
            FROM (SELECT s.user_id, s.registered_at, s.id) own
            JOIN pushfleet.subscriber s
                ON s.shard = ANY (this.shards)
                AND s.app_id = this.app_id
                AND s.user_id = own.user_id
                AND (s.registered_at, s.id) > (own.registered_at, own.id)
            JOIN pushfleet.route
                ON route.app_id = s.app_id
                AND route.transport = s.transport
                AND route.service = s.service
                AND route.state <> 2
            WHERE s.state <= 2 AND s.registered_at <= \(asOf) AND \(predicate)
        )
        """
    }
}
