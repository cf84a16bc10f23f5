import Domain

/// Turns a content version into APNs requests (content model §11.1, §7 for silent ones, §11.5 for delivery options), with
/// the author's `overrides.apns` over what the content gives.
struct APNsMessageCompiler {
    private let content: ContentVersion
    private let names: [String]
    /// By name in lower case.
    private let headers: [String: String]
    private let payload: JSONValue?

    init(_ content: ContentVersion) {
        self.content = content
        names = content.placeholderNames
        var headers: [String: String] = [:]
        var payload: JSONValue?
        if case .object(let block)? = content.message.overrides.apns {
            if case .object(let members)? = block["headers"] {
                for case (let name, .string(let value)) in members { headers[name.lowercased()] = value }
            }
            payload = block["payload"]
        }
        self.headers = headers
        self.payload = payload
    }

    func compile() -> APNsPreparedMessage {
        let isSilent = content.message.silent
        let pushType = pushType
        return APNsPreparedMessage(
            bodies: isSilent ? [body(nil)] : content.message.variants.map { body($0) },
            resolver: isSilent ? nil : LanguageResolver(content.message), pushType: pushType,
            priority: priority(pushType), expiration: expiration,
            collapseID: (headers["apns-collapse-id"] ?? content.delivery.collapseKey).map { Array($0.utf8) })
    }

    // MARK: Headers

    private var pushType: APNsPushType {
        if content.message.silent { return .background }
        return headers["apns-push-type"].flatMap { APNsPushType(rawValue: $0) } ?? .alert
    }

    /// Apple refuses a background push of any other priority than 5, whatever the author asks for.
    private func priority(_ pushType: APNsPushType) -> String {
        if pushType == .background { return "5" }
        if let header = headers["apns-priority"] { return header }
        switch content.delivery.priority {
        case .high: return "10"
        case .normal: return "5"
        case nil: return content.message.presentation.interruptionLevel == .passive ? "5" : "10"
        }
    }

    private var expiration: APNsPreparedMessage.Expiration {
        if let header = headers["apns-expiration"] { return .fixed(Array(header.utf8)) }
        return content.delivery.ttlSeconds == 0 ? .immediate : .remaining
    }

    // MARK: Payload

    /// - Parameter variant: nil when silent.
    private func body(_ variant: Variant?) -> APNsPreparedMessage.Body {
        var root: [String: APNsNode] = [:]
        if !content.message.data.isEmpty {
            root["data"] = .object(
                Dictionary(uniqueKeysWithValues: content.message.data.map { ($0.key, .json(.string($0.value))) }))
        }
        if let variant {
            root["aps"] = .object(aps(variant))
            root["image"] = variant.image.map { .json(.string($0)) }
            root["url"] = variant.url.map { .text($0, .url) }
            if !variant.actions.isEmpty { root["actions"] = .array(variant.actions.map(action)) }
        }
        let merged = payload.map { APNsNode.object(root).merging($0) } ?? .object(root)
        guard case .object(var members) = merged else { preconditionFailure("a payload override is an object") }
        // A background push that carries anything else is discarded by Apple.
        if variant == nil { members["aps"] = .json(.object(["content-available": .integer(1)])) }
        members["id"] = .id
        var builder = APNsBodyBuilder(names: names)
        APNsNode.object(members).write(to: &builder)
        var weight = 0
        for case .literal(let bytes) in builder.parts { weight += bytes.count }
        return APNsPreparedMessage.Body(language: variant?.language, parts: builder.parts, literalBytes: weight)
    }

    private func aps(_ variant: Variant) -> [String: APNsNode] {
        let presentation = content.message.presentation
        var aps: [String: APNsNode] = [
            "alert": .object(["title": .text(variant.title, .text), "body": .text(variant.body, .text)])
        ]
        aps["sound"] = sound(presentation).map { .json($0) }
        aps["badge"] = presentation.badge.map { .json(.integer($0)) }
        aps["thread-id"] = presentation.threadId.map { .json(.string($0)) }
        if let level = presentation.interruptionLevel, level != .active {
            aps["interruption-level"] = .json(.string(level.rawValue))
        }
        aps["relevance-score"] = presentation.relevanceScore.map { .json(.double($0)) }
        // The service extension adds the picture and builds the buttons.
        if variant.image != nil || !variant.actions.isEmpty { aps["mutable-content"] = .json(.integer(1)) }
        return aps
    }

    /// - Returns: nil = no sound.
    private func sound(_ presentation: Presentation) -> JSONValue? {
        let name = presentation.sound ?? "default"
        if name == "none" { return nil }
        guard presentation.interruptionLevel == .critical else { return .string(name) }
        return .object(["critical": .integer(1), "name": .string(name), "volume": .integer(1)])
    }

    private func action(_ action: Variant.Action) -> APNsNode {
        var members: [String: APNsNode] = ["id": .json(.string(action.id)), "title": .json(.string(action.title))]
        members["url"] = action.url.map { .text($0, .url) }
        return .object(members)
    }
}
