import Domain
import Postgres

extension PostgresBatchStore {
    /// Sets aside the addresses that answers of this flush spoke against.
    ///
    /// It reads the answer, not the outcome that was recorded: after an earlier doubt an `unregistered` ends as in_doubt,
    /// and the address is dead all the same.
    func retire(_ flush: Flush) async throws {
        let evidence = flush.items.compactMap { RetiredAddress($0) }
        if !evidence.isEmpty {
            _ = try await claims.query(.retire(evidence, in: flush.shard), deadline: .seconds(5))
        }
        let moved = flush.items.filter { $0.environment != nil && $0.addressVersion != nil }
        if !moved.isEmpty {
            _ = try await claims.query(.correctEnvironments(moved, in: flush.shard), deadline: .seconds(5))
        }
    }
}

/// An address and what is the matter with it.
struct RetiredAddress {
    var subscriber: Int64
    var version: Int32
    var state: SubscriberState
    var reason: Reason
    var since: Instant?

    /// nil when the item says nothing against the address.
    init?(_ item: Flush.Item) {
        guard let version = item.addressVersion else { return nil }
        switch (item.outcome, item.reason) {
        case (.unregistered, _): state = .unregistered
        case (.failed, .fcmSenderIDMismatch), (.failed, .apnsDeviceTokenNotForTopic),
            (.failed, .apnsBadEnvironmentKeyID):
            state = .wrongProject
        case (.failed, .apnsBadDeviceToken): state = .suspect
        default: return nil
        }
        subscriber = item.subscriber.rawValue
        self.version = version
        reason = item.reason
        since = item.goneSince
    }
}

extension PostgresQuery {
    /// Compares and sets: an address that changed since it was read stays, one that registered since it was gone, too, and
    /// a repeat finds nothing to do.
    static func retire(_ evidence: [RetiredAddress], in shard: Shard) -> PostgresQuery {
        """
        WITH against AS MATERIALIZED (
            SELECT s.id, answer.state, answer.reason
            FROM unnest(
                \(evidence.map(\.subscriber)), \(evidence.map(\.version)), \(evidence.map(\.state.rawValue)),
                \(evidence.map(\.reason.rawValue)), \(evidence.map { $0.since?.timestamp })
            ) AS answer (subscriber_id, address_version, state, reason, since)
            JOIN pushfleet.subscriber s ON s.shard = \(shard.rawValue) AND s.id = answer.subscriber_id
            WHERE s.address_version = answer.address_version AND s.state IN (1, 2)
                AND s.state <> answer.state
                AND (answer.since IS NULL OR s.registered_at < answer.since)
            ORDER BY s.id
            FOR UPDATE OF s
        )
        UPDATE pushfleet.subscriber s
        SET state = against.state, state_since = now(), evidence = against.reason
        FROM against
        WHERE s.shard = \(shard.rawValue) AND s.id = against.id
        """
    }

    /// Where addresses of Apple's proved to belong: the next one is sent there first.
    static func correctEnvironments(_ items: [Flush.Item], in shard: Shard) -> PostgresQuery {
        """
        WITH proven AS MATERIALIZED (
            SELECT s.id, answer.environment
            FROM unnest(
                \(items.map(\.subscriber.rawValue)), \(items.map { $0.addressVersion ?? 0 }),
                \(items.map { $0.environment?.rawValue ?? 0 })
            ) AS answer (subscriber_id, address_version, environment)
            JOIN pushfleet.subscriber s ON s.shard = \(shard.rawValue) AND s.id = answer.subscriber_id
            WHERE s.address_version = answer.address_version AND s.environment <> answer.environment
            ORDER BY s.id
            FOR UPDATE OF s
        )
        UPDATE pushfleet.subscriber s
        SET environment = proven.environment
        FROM proven
        WHERE s.shard = \(shard.rawValue) AND s.id = proven.id
        """
    }
}
