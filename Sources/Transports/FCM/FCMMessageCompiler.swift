import Domain

/// Turns a content version into FCM data messages: no `notification` block, so that the app's SDK always gets the
/// callback; every value a string; keys sorted (content model §11.2, §7 for silent ones, §11.5 for delivery options).
struct FCMMessageCompiler {
    private let content: ContentVersion
    private let names: [String]

    init(_ content: ContentVersion) {
        self.content = content
        names = content.placeholderNames
    }

    func compile() -> FCMPreparedMessage {
        if content.message.silent { return FCMPreparedMessage(bodies: [body(nil)], resolver: nil) }
        let bodies = content.message.variants.map { body($0) }
        return FCMPreparedMessage(bodies: bodies, resolver: LanguageResolver(content.message))
    }

    /// - Parameter variant: nil when silent.
    private func body(_ variant: Variant?) -> FCMPreparedMessage.Body {
        var builder = FCMBodyBuilder()
        builder.literal(#"{"message":{"android":{"#)
        if let key = content.delivery.collapseKey {
            builder.literal(#""collapse_key":""#)
            builder.text(key)
            builder.literal(#"","#)
        }
        builder.literal(#""priority":"\#(priority)","ttl":""#)
        builder.part(.ttl)
        builder.literal(#"s"},"data":"#)
        builder.part(.dataBegins)
        appendData(variant, to: &builder)
        builder.part(.dataEnds)
        builder.literal(#","token":""#)
        builder.part(.token)
        builder.literal(#""}}"#)
        return builder.body(language: variant?.language)
    }

    /// What is given explicitly wins; else what draws nothing, or quietly, need not wake a device (D-22).
    private var priority: String {
        if let priority = content.delivery.priority { return priority.rawValue }
        let isQuiet = content.message.silent || content.message.presentation.interruptionLevel == .passive
        return isQuiet ? "normal" : "high"
    }

    private func appendData(_ variant: Variant?, to builder: inout FCMBodyBuilder) {
        var entries = FCMDataEntries(names: names)
        entries.addID()
        if !content.message.data.isEmpty { entries.addObject("data", content.message.data) }
        if let variant {
            entries.add(variant)
            entries.add(content.message.presentation)
        } else {
            entries.add("silent", "1")
        }
        entries.write(to: &builder)
    }
}
