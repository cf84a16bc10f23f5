import Domain

/// Turns a content version into FCM messages, sorted by key: data messages, which the app's SDK draws (content model
/// §11.2), or notification messages, which FCM draws itself (§11.3). An author's overrides lie over either.
struct FCMMessageCompiler {
    let content: ContentVersion
    let names: [String]

    private let isValidation: Bool

    /// - Parameter validateOnly: FCM checks the message and delivers nothing.
    init(_ content: ContentVersion, validateOnly: Bool = false) {
        self.content = content
        isValidation = validateOnly
        names = content.placeholderNames
    }

    var message: Message { content.message }
    var isNotificationMode: Bool { content.delivery.fcmMode == .notification }

    func compile() -> FCMPreparedMessage {
        if message.silent { return FCMPreparedMessage(bodies: [body(nil)], resolver: nil) }
        let bodies = message.variants.map { body($0) }
        return FCMPreparedMessage(bodies: bodies, resolver: LanguageResolver(message))
    }

    /// - Parameter variant: nil when silent.
    private func body(_ variant: Variant?) -> FCMPreparedMessage.Body {
        let whole = written(variant, content.channel)
        let essential = content.channel?.essential
        var body = FCMPreparedMessage.Body(
            language: variant?.language, parts: whole.parts, literalBytes: whole.literalBytes)
        if describesChannel(variant), essential != content.channel { body.shorter = written(variant, essential).parts }
        return body
    }

    private func written(_ variant: Variant?, _ channel: AndroidChannel?) -> FCMBodyBuilder {
        var node = isNotificationMode ? notificationMessage(variant) : dataMessage(variant, channel)
        overlay(&node)
        var builder = FCMBodyBuilder()
        builder.literal(#"{"message":"#)
        if case .object(let members) = node { builder.write(message: members) }
        builder.literal(isValidation ? #","validate_only":true}"# : "}")
        return builder
    }

    // MARK: - Data messages

    private func describesChannel(_ variant: Variant?) -> Bool {
        variant != nil && !isNotificationMode && message.presentation.channelId != nil
    }

    /// No `notification` block, so that the app always gets the callback; every value a string.
    private func dataMessage(_ variant: Variant?, _ channel: AndroidChannel?) -> FCMNode {
        var entries = FCMDataEntries(names: names)
        entries.addID()
        if !message.data.isEmpty { entries.addObject("data", message.data) }
        if let variant {
            entries.add(variant)
            entries.add(message.presentation)
            if describesChannel(variant) { entries.add("channel", channel?.text) }
        } else {
            entries.add("silent", "1")
        }
        return .object(["android": .object(androidDelivery), "data": entries.node])
    }

    // MARK: - What both have

    /// Content model §11.5.
    var androidDelivery: [String: FCMNode] {
        var android: [String: FCMNode] = [
            "priority": .text(priority.rawValue), "ttl": .string([.ttl, .literal(Array("s".utf8))]),
        ]
        android["collapse_key"] = content.delivery.collapseKey.map { .text($0) }
        return android
    }

    /// What is given explicitly wins; else what draws nothing, or quietly, need not wake a device (D-22).
    var priority: DeliveryOptions.Priority {
        if let priority = content.delivery.priority { return priority }
        let isQuiet = message.silent || message.presentation.interruptionLevel == .passive
        return isQuiet ? .normal : .high
    }

    /// Lays the author's blocks over the message, then restores what must hold whatever they say.
    private func overlay(_ node: inout FCMNode) {
        if let label = content.delivery.analyticsLabel { node["fcm_options", "analytics_label"] = .text(label) }
        let overrides = message.overrides.inSnakeCase
        let blocks = [("android", overrides.android), ("apns", overrides.apns), ("webpush", overrides.webpush)]
        for case (let name, let block?) in blocks {
            node[name] = (node[name] ?? .object([:])).overlaid(with: block)
        }
        // These replace the common data, and with it the id that repeats are known by.
        let id = isNotificationMode ? "_id" : "id"
        for name in ["android", "webpush"] where node[name, "data"] != nil { node[name, "data", id] = .string([.id]) }
        lowerApplePriority(&node)
    }

    /// FCM refuses a message without anything to show that asks Apple for more than priority 5.
    private func lowerApplePriority(_ node: inout FCMNode) {
        guard node["notification"] == nil, node["android", "notification"] == nil,
            node["apns", "payload", "aps", "alert"] == nil, case .object(let headers)? = node["apns", "headers"]
        else { return }
        for key in headers.keys where key.lowercased() == "apns-priority" { node["apns", "headers", key] = .text("5") }
    }
}
