import Domain
import FoundationEssentials
import Postgres

extension PostgresBatchStore {
    /// - Throws: `ContentProblems` when what is stored breaks a strict rule; `NoSuchContent`.
    package func contentVersion(_ id: ContentVersion.ID) async throws -> ContentVersion {
        guard let row = try await claims.query(.contentVersion(id), deadline: .seconds(5)).first else {
            throw NoSuchContent(id: id)
        }
        let delivery = try JSONDecoder().decode(StoredDelivery.self, from: Data(row.json(1).utf8))
        let channel = try row.isNull(2) ? nil : AndroidChannel.decode(row.json(2))
        return ContentVersion(
            id: id, message: try MessageReader.message(from: row.json(0)), delivery: delivery.options,
            channel: channel)
    }
}

package struct NoSuchContent: Error, CustomStringConvertible {
    package let id: ContentVersion.ID
    package var description: String { "there is no content version \(id)" }
}

/// How `content_version.delivery` says `DeliveryOptions`: as the campaign file does.
struct StoredDelivery: Codable {
    var ttlSeconds: Int?
    var collapseKey: String?
    var priority: String?
    var inDoubt: String?
    var fcmMode: String?
    var analyticsLabel: String?

    init(_ options: DeliveryOptions) {
        ttlSeconds = options.ttlSeconds
        collapseKey = options.collapseKey
        priority = options.priority?.rawValue
        inDoubt = options.inDoubt == .assumeSent ? "assume_sent" : "retry"
        fcmMode = options.fcmMode?.rawValue
        analyticsLabel = options.analyticsLabel
    }

    var options: DeliveryOptions {
        DeliveryOptions(
            ttlSeconds: ttlSeconds, collapseKey: collapseKey,
            priority: priority.flatMap { DeliveryOptions.Priority(rawValue: $0) },
            inDoubt: inDoubt == "assume_sent" ? .assumeSent : .retry,
            fcmMode: fcmMode.flatMap { DeliveryOptions.FCMMode(rawValue: $0) }, analyticsLabel: analyticsLabel)
    }
}

extension PostgresQuery {
    static func contentVersion(_ id: ContentVersion.ID) -> PostgresQuery {
        """
        SELECT message, delivery, channel
        FROM pushfleet.content_version
        WHERE id = \(id.rawValue)
        """
    }
}
