import Crypto
import Domain

/// Notification messages (content model §11.3).
extension FCMMessageCompiler {
    /// - Parameter variant: nil when silent: then there is no notification.
    func notificationMessage(_ variant: Variant?) -> FCMNode {
        var data = Dictionary(uniqueKeysWithValues: message.data.map { ($0.key, FCMNode.text($0.value)) })
        data["_id"] = .string([.id])
        guard let variant else {
            return .object([
                "android": .object(androidDelivery), "apns": silentApple, "data": .object(data),
            ])
        }
        data["_url"] = variant.url.map { .string([.template(compiled($0, .url))]) }
        var android = androidDelivery
        android["notification"] = androidNotification(variant)
        return .object([
            "android": .object(android), "apns": apple(variant), "data": .object(data),
            "notification": .object([
                "title": .string([.template(compiled(variant.title, .text))]),
                "body": .string([.template(compiled(variant.body, .text))]),
            ]),
            "webpush": web(variant),
        ])
    }

    /// What a repeat replaces: what the author named, else the job itself.
    private var replaced: FCMNode { content.delivery.collapseKey.map { .text($0) } ?? .string([.id]) }

    private func androidNotification(_ variant: Variant) -> FCMNode {
        let presentation = message.presentation
        var members: [String: FCMNode] = ["tag": replaced]
        members["image"] = variant.image.map { .text($0) }
        if let sound = presentation.sound, sound != "none" { members["sound"] = .text(sound) }
        members["notification_count"] = presentation.badge.map { .json(.integer($0)) }
        members["channel_id"] = presentation.channelId.map { .text($0) }
        return .object(members)
    }

    // MARK: - Apple's devices through FCM

    private func apple(_ variant: Variant) -> FCMNode {
        var apple: [String: FCMNode] = [
            "headers": .object([
                "apns-priority": .text(priority == .high ? "10" : "5"), "apns-expiration": .string([.expiry]),
                "apns-collapse-id": replaced,
            ]),
            "payload": .object(["aps": .object(aps(variant))]),
        ]
        apple["fcm_options"] = variant.image.map { .object(["image": .text($0)]) }
        return .object(apple)
    }

    /// FCM itself writes the alert.
    private func aps(_ variant: Variant) -> [String: FCMNode] {
        let presentation = message.presentation
        var aps: [String: FCMNode] = [:]
        let sound = presentation.sound ?? "default"  // D-15
        if sound != "none" {
            aps["sound"] =
                presentation.interruptionLevel == .critical
                ? .json(.object(["critical": .integer(1), "name": .string(sound), "volume": .integer(1)]))
                : .text(sound)
        }
        aps["badge"] = presentation.badge.map { .json(.integer($0)) }
        aps["thread-id"] = presentation.threadId.map { .text($0) }
        if let level = presentation.interruptionLevel, level != .active {
            aps["interruption-level"] = .text(level.rawValue)
        }
        aps["relevance-score"] = presentation.relevanceScore.map { .json(.double($0)) }
        if variant.image != nil || !variant.actions.isEmpty { aps["mutable-content"] = .json(.integer(1)) }
        return aps
    }

    private var silentApple: FCMNode {
        .object([
            "headers": .object([
                "apns-push-type": .text("background"), "apns-priority": .text("5"),
                "apns-expiration": .string([.expiry]),
            ]),
            "payload": .object(["aps": .object(["content-available": .json(.integer(1))])]),
        ])
    }

    // MARK: - Browsers through FCM

    private func web(_ variant: Variant) -> FCMNode {
        var headers: [String: FCMNode] = ["TTL": .string([.ttl]), "Urgency": .text(priority.rawValue)]
        headers["Topic"] = content.delivery.collapseKey.map { .text(Self.topic(of: $0)) }
        var web: [String: FCMNode] = ["headers": .object(headers), "notification": webNotification(variant)]
        web["fcm_options"] = variant.url.flatMap(link)
        return .object(web)
    }

    /// Browsers open https from a push and nothing else. A link that begins with a placeholder shows its scheme only when
    /// it is filled in.
    private func link(_ url: Template) -> FCMNode? {
        if case .literal(let text)? = url.segments.first, text.utf8.contains(UInt8(ascii: ":")) {
            guard text.prefix(8).lowercased() == "https://" else { return nil }
            return .object(["link": .string([.template(compiled(url, .url))])])
        }
        return .httpsLink(member: "link", compiled(url, .url))
    }

    private func webNotification(_ variant: Variant) -> FCMNode {
        let presentation = message.presentation
        var members: [String: FCMNode] = ["tag": replaced]
        members["image"] = variant.image.map { .text($0) }
        members["icon"] = presentation.icon.map { .text($0) }
        if presentation.sound == "none" { members["silent"] = .json(.bool(true)) }
        if !variant.actions.isEmpty {
            members["actions"] = .json(
                .array(variant.actions.map { .object(["action": .string($0.id), "title": .string($0.title)]) }))
        }
        return .object(members)
    }

    /// RFC 8030 §5.4: at most 32 characters of base64url. What is no such text is named by its digest.
    private static func topic(of key: String) -> String {
        let isTopic =
            key.utf8.count <= 32
            && key.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
        return isTopic ? key : Base64URL.encode(Array(SHA256.hash(data: Array(key.utf8)).prefix(24)))
    }

    private func compiled(_ template: Template, _ field: TemplateField) -> CompiledTemplate {
        CompiledTemplate(template, field: field, names: names, escaping: .json)
    }
}
