import Domain
import Postgres

extension PostgresBatchStore {
    /// Sets aside the addresses that answers of this flush spoke against.
    ///
    /// It reads the answer, not the outcome that was recorded: after an earlier doubt an `unregistered` ends as in_doubt,
    /// and the address is dead all the same.
    func retire(_ flush: Flush) async throws {
        let evidence = flush.items.compactMap { RetiredAddress($0) }
        guard !evidence.isEmpty else { return }
        _ = try await claims.query(.retire(evidence, in: flush.shard), deadline: .seconds(5))
    }
}

/// An address and what is the matter with it.
struct RetiredAddress {
    var subscriber: Int64
    var version: Int32
    var state: SubscriberState
    var reason: Reason

    /// nil when the item says nothing against the address.
    init?(_ item: Flush.Item) {
        guard let version = item.addressVersion else { return nil }
        switch (item.outcome, item.reason) {
        case (.unregistered, _): state = .unregistered
        case (.failed, .fcmSenderIDMismatch), (.failed, .webpushKeyMismatch): state = .wrongProject
        case (.failed, .webpushRedirected): state = .suspect
        default: return nil
        }
        subscriber = item.subscriber.rawValue
        self.version = version
        reason = item.reason
    }
}

extension PostgresQuery {
    /// Compares and sets: an address that changed since it was read stays, and a repeat finds nothing to do.
    static func retire(_ evidence: [RetiredAddress], in shard: Shard) -> PostgresQuery {
        """
        WITH against AS MATERIALIZED (
            SELECT s.id, answer.state, answer.reason
            FROM unnest(
                \(evidence.map(\.subscriber)), \(evidence.map(\.version)), \(evidence.map(\.state.rawValue)),
                \(evidence.map(\.reason.rawValue))
            ) AS answer (subscriber_id, address_version, state, reason)
            JOIN pushfleet.subscriber s ON s.shard = \(shard.rawValue) AND s.id = answer.subscriber_id
            WHERE s.address_version = answer.address_version AND s.state IN (1, 2)
            ORDER BY s.id
            FOR UPDATE OF s
        )
        UPDATE pushfleet.subscriber s
        SET state = against.state, state_since = now(), evidence = against.reason
        FROM against
        WHERE s.shard = \(shard.rawValue) AND s.id = against.id
        """
    }
}
