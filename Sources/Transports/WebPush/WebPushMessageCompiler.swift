import Domain

/// Turns a content version into the JSON of content model §11.4, and its delivery options into headers (§11.5).
struct WebPushMessageCompiler {
    private let content: ContentVersion
    private let names: [String]
    private let options: WebPushOptions
    private let overrides: WebPushOverrides

    init(_ content: ContentVersion, options: WebPushOptions) {
        self.content = content
        self.options = options
        names = content.placeholderNames
        overrides = WebPushOverrides(content.message.overrides)
    }

    func compile() -> WebPushPreparedMessage {
        let message = content.message
        return WebPushPreparedMessage(
            bodies: message.silent ? [] : message.variants.map(body),
            resolver: message.silent ? nil : LanguageResolver(message), headers: headers)
    }

    private var headers: WebPushPreparedMessage.Headers {
        WebPushPreparedMessage.Headers(
            urgency: overrides.urgency ?? urgency,
            topic: overrides.topic ?? content.delivery.collapseKey.map { WebPushTopic.of($0) },
            longestLife: overrides.ttl)
    }

    /// What is given explicitly wins; else what arrives quietly need not wake a device (D-22).
    private var urgency: WebPushPreparedMessage.Headers.Urgency {
        if let priority = content.delivery.priority { return priority == .high ? .high : .normal }
        return content.message.presentation.interruptionLevel == .passive ? .normal : .high
    }

    private func body(_ variant: Variant) -> WebPushPreparedMessage.Body {
        let parts = (declarative(variant) ?? ordinary(variant)).parts
        var weight = 0
        for case .literal(let bytes) in parts { weight += bytes.count }
        return WebPushPreparedMessage.Body(language: variant.language, parts: parts, literalBytes: weight)
    }

    private func ordinary(_ variant: Variant) -> WebPushMembers {
        var members = shown(variant)
        addOwn(to: &members)
        if let url = variant.url { members.set("url", compiled(url, .url)) }
        if !variant.actions.isEmpty {
            members.set("actions", variant.actions.map { action($0, link: "url", else: nil) })
        }
        merge(overrides.notification, into: &members)
        return members
    }

    /// A browser shows it without a service worker, others hand it to theirs (Push API, Declarative Web Push).
    /// - Returns: nil unless the app asks for it and a tap opens a page: without one it is none.
    private func declarative(_ variant: Variant) -> WebPushMembers? {
        guard options.isDeclarative, let url = variant.url, Self.isPage(url) else { return nil }
        var notification = shown(variant)
        notification.set("navigate", compiled(url, .url))
        if !variant.actions.isEmpty {
            notification.set("actions", variant.actions.map { action($0, link: "navigate", else: url) })
        }
        var own = WebPushMembers()
        addOwn(to: &own)
        notification.set("data", own)
        merge(overrides.notification, into: &notification)
        var members = WebPushMembers()
        members.set("web_push", json: "8030")
        members.set("notification", notification)
        return members
    }

    /// What a notification has of its own, in either form.
    private func shown(_ variant: Variant) -> WebPushMembers {
        let presentation = content.message.presentation
        var members = WebPushMembers()
        members.set("title", compiled(variant.title, .text))
        members.set("body", compiled(variant.body, .text))
        members.set("lang", text: LanguageSpelling.bcp47(variant.language))
        members.set("image", text: variant.image)
        members.set("icon", text: presentation.icon)
        if presentation.sound == "none" { members.set("silent", json: "true") }
        // A tag replaces; without one of the author's a repeat replaces itself (D-18).
        if let tag = content.delivery.collapseKey ?? (options.tagsByThread ? presentation.threadId : nil) {
            members.set("tag", text: tag)
        } else {
            members.setID("tag")
        }
        return members
    }

    /// What our part of the service worker reads.
    private func addOwn(to members: inout WebPushMembers) {
        members.setID("id")
        if let badge = content.message.presentation.badge { members.set("badgeCount", json: String(badge)) }
        guard !content.message.data.isEmpty else { return }
        var data = WebPushMembers()
        for entry in content.message.data { data.set(entry.key, text: entry.value) }
        members.set("data", data)
    }

    private func action(_ action: Variant.Action, link: String, else fallback: Template?) -> WebPushMembers {
        var members = WebPushMembers()
        members.set("action", text: action.id)
        members.set("title", text: action.title)
        if let url = action.url ?? fallback { members.set(link, compiled(url, .url)) }
        return members
    }

    private func merge(_ notification: [String: JSONValue], into members: inout WebPushMembers) {
        for (key, value) in notification { members.set(key, json: value.text) }
    }

    private func compiled(_ template: Template, _ field: TemplateField) -> CompiledTemplate {
        CompiledTemplate(template, field: field, names: names, escaping: .json)
    }

    private static func isPage(_ url: Template) -> Bool {
        guard case .literal(let text)? = url.segments.first else { return false }
        return ["https://", "http://"].contains { text.lowercased().hasPrefix($0) }
    }
}

/// A well-formed language key as BCP 47 writes it (RFC 5646 §2.1.1): `pt_br` becomes `pt-BR`, `zh-hant` `zh-Hant`.
enum LanguageSpelling {
    static func bcp47(_ key: String) -> String {
        var isAfterSingleton = false
        let subtags = key.lowercased().split { $0 == "-" || $0 == "_" }.enumerated().map { place, subtag in
            defer { isAfterSingleton = isAfterSingleton || subtag.count == 1 }
            if place == 0 || isAfterSingleton { return String(subtag) }
            return switch subtag.count {
            case 2: subtag.uppercased()
            case 4 where !(subtag.first?.isNumber ?? true): subtag.prefix(1).uppercased() + subtag.dropFirst()
            default: String(subtag)
            }
        }
        return subtags.joined(separator: "-")
    }
}
