extension Message {
    /// The message as an author would write it: compact JSON, sorted by key. `decode` gives the same message again.
    package func encode() -> String {
        var members: [String: JSONValue] = [:]
        if silent {
            members["silent"] = .bool(true)
        } else {
            var content = Dictionary(uniqueKeysWithValues: variants.map { ($0.language, $0.json) })
            content["_default"] = .string(variants[defaultVariant].language)
            members["content"] = .object(content)
        }
        if presentation != Presentation() { members["presentation"] = presentation.json }
        if !data.isEmpty {
            members["data"] = .object(Dictionary(uniqueKeysWithValues: data.map { ($0.key, .string($0.value)) }))
        }
        if overrides != .none {
            let blocks = ["android": overrides.android, "apns": overrides.apns, "webpush": overrides.webpush]
            members["overrides"] = .object(blocks.compactMapValues(\.self))
        }
        return JSONValue.object(members).text
    }

    /// Reads a message as `encode` or an author wrote it.
    /// - Throws: `ContentProblems` when it breaks a strict rule.
    package static func decode(_ json: String) throws(ContentProblems) -> Message {
        try MessageReader.message(from: json)
    }
}

extension Variant {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = ["title": .string(title.source), "body": .string(body.source)]
        members["image"] = image.map { .string($0) }
        members["url"] = url.map { .string($0.source) }
        if !actions.isEmpty { members["actions"] = .array(actions.map(\.json)) }
        return .object(members)
    }
}

extension Variant.Action {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = ["id": .string(id), "title": .string(title)]
        members["url"] = url.map { .string($0.source) }
        return .object(members)
    }
}

extension Presentation {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [:]
        members["sound"] = sound.map { .string($0) }
        members["badge"] = badge.map { .integer($0) }
        members["threadId"] = threadId.map { .string($0) }
        members["icon"] = icon.map { .string($0) }
        members["interruptionLevel"] = interruptionLevel.map { .string($0.rawValue) }
        members["relevanceScore"] = relevanceScore.map { .double($0) }
        members["channelId"] = channelId.map { .string($0) }
        return .object(members)
    }
}
