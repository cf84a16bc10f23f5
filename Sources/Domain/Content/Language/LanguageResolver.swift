/// Chooses the variant for each subscriber: the exact language, its bases from the right, then the default
/// (content model §2, RFC 4647 §3.4). Compiled once per message; no likely subtags, no sideways match.
package struct LanguageResolver: Sendable {
    private let tags: [LanguageTag]
    private let defaultIndex: Int

    /// - Parameters:
    ///   - keys: the map's keys, strictly valid and different in comparison form.
    ///   - defaultIndex: the key that `_default` names.
    package init(keys: [String], defaultIndex: Int) {
        tags = keys.map { key in
            guard let tag = LanguageTag(key: key) else { preconditionFailure("a language key must be well-formed") }
            return tag
        }
        self.defaultIndex = defaultIndex
    }

    package init(_ message: Message) {
        self.init(keys: message.variants.map(\.language), defaultIndex: message.defaultVariant)
    }

    /// The variant's index for a subscriber's tag: any spelling, possibly malformed or missing.
    package func resolve(_ subscriber: String?) -> Int {
        guard tags.count > 1, let subscriber, let tag = LanguageTag(subscriber: subscriber) else { return defaultIndex }
        var chosen = defaultIndex
        tag.forEachPrefix { length in
            for index in tags.indices where tag.hasPrefix(length, equalTo: tags[index]) {
                chosen = index
                return true
            }
            return false
        }
        return chosen
    }

    /// What was looked for, in order, in comparison form, up to the one that was found; for previews. Ends with
    /// `_default` where nothing was.
    package func chain(_ subscriber: String?) -> [String] {
        var tried: [String] = []
        var isFound = false
        if let subscriber, let tag = LanguageTag(subscriber: subscriber) {
            tag.forEachPrefix { length in
                tried.append(tag.text(length))
                isFound = tags.contains { tag.hasPrefix(length, equalTo: $0) }
                return isFound
            }
        }
        return isFound ? tried : tried + ["_default"]
    }
}
