extension MessageReader {
    /// - Returns: nil unless every variant can be sent and one of them is the default.
    mutating func content(_ members: JSONMembers) -> (variants: [Variant], defaultVariant: Int)? {
        let pointer = members.pointer / "content"
        guard members.has("content") else {
            addContentMissing(pointer)
            return nil
        }
        guard let content = problems.object("content", of: members, known: nil) else { return nil }
        let keys = content.keys.filter { $0 != "_default" }
        guard !keys.isEmpty else {
            addContentMissing(pointer)
            return nil
        }
        checkKeys(keys, at: pointer)
        let fallback = defaultKey(content, among: keys)
        var variants: [(tag: LanguageTag, variant: Variant)] = []
        for key in keys where !key.hasPrefix("_") {
            guard let value = content[key], let read = variant(value, language: key, at: pointer / key),
                let tag = LanguageTag(key: key)
            else { continue }
            variants.append((tag, read))
        }
        variants.sort { $0.tag.description < $1.tag.description }
        guard let fallback, let index = variants.firstIndex(where: { $0.variant.language == fallback }) else {
            return nil
        }
        return (variants.map(\.variant), index)
    }

    private mutating func addContentMissing(_ pointer: JSONPointer) {
        problems.add(
            .contentMissing, at: pointer, "There is no text in any language.",
            remedy: "Give a title and body for one language at least, or set silent to true.")
    }

    private mutating func checkKeys(_ keys: [String], at pointer: JSONPointer) {
        var spellings: [LanguageTag: String] = [:]
        for key in keys {
            guard let tag = LanguageTag(key: key) else {
                problems.add(
                    .languageKeyInvalid, at: pointer / key, "This is no language tag.",
                    remedy:
                        "Use a tag such as en, pt-BR or zh-Hant, of at most \(LanguageTag.maximumLength) characters.")
                continue
            }
            if let first = spellings.updateValue(key, forKey: tag) {
                problems.add(
                    .languageKeyDuplicate, at: pointer / key, "This is the same language as \(first).",
                    remedy: "Keep one of the two.")
            }
        }
    }

    /// The key that `_default` names, in whichever spelling.
    private mutating func defaultKey(_ content: JSONMembers, among keys: [String]) -> String? {
        let pointer = content.pointer / "_default"
        guard content.has("_default") else {
            problems.add(
                .defaultLanguageMissing, at: pointer, "No language is named for everybody else.",
                remedy: "Set _default to one of the languages.")
            return nil
        }
        guard let named = problems.string("_default", of: content) else { return nil }
        let tag = LanguageTag(key: named)
        if let key = keys.first(where: { $0 == named })
            ?? keys.first(where: { tag != nil && LanguageTag(key: $0) == tag })
        {
            return key
        }
        problems.add(
            .defaultLanguageUnknown, at: pointer, "The default language has no text.",
            remedy: "Set _default to one of: \(keys.joined(separator: ", ")).")
        return nil
    }

    // MARK: - One language

    private static let variantFields = ["title", "body", "image", "url", "actions"]

    private mutating func variant(_ value: JSONValue, language: String, at pointer: JSONPointer) -> Variant? {
        guard let members = problems.object(value, at: pointer, known: Self.variantFields) else { return nil }
        let title = text("title", of: members, limit: 200, missing: .titleMissing, tooLong: .titleTooLong)
        let body = text("body", of: members, limit: 1000, missing: .bodyMissing, tooLong: .bodyTooLong)
        let image = image("image", of: members, else: .imageInvalid)
        let url = link("url", of: members)
        let actions = actions(members)
        guard let title, let body else { return nil }
        return Variant(language: language, title: title, body: body, image: image, url: url, actions: actions)
    }

    private mutating func text(
        _ key: String, of members: JSONMembers, limit: Int, missing: ProblemCode, tooLong: ProblemCode
    ) -> Template? {
        guard let text = problems.inkedString(key, of: members, else: missing, remedy: "Write a \(key).") else {
            return nil
        }
        if CharacterCount.of(text, exceeds: limit) {
            problems.add(
                tooLong, at: members.pointer / key, "The \(key) is longer than \(limit) characters.",
                remedy: "Shorten it; nothing is cut off by itself.")
        }
        return template(text, at: members.pointer / key)
    }

    private mutating func template(_ text: String, at pointer: JSONPointer) -> Template? {
        if let template = Template.parse(text) { return template }
        problems.add(
            .placeholderMalformed, at: pointer, "Two opening braces begin no valid placeholder.",
            remedy: "Write {{name}} or {{name|fallback}}; a name has letters, digits, _, . and - only.")
        return nil
    }

    mutating func link(_ key: String, of members: JSONMembers) -> Template? {
        guard let text = problems.string(key, of: members) else { return nil }
        let pointer = members.pointer / key
        let template = template(text, at: pointer)
        switch URLRules.fault(ofLink: text.utf8Span.span) {
        case .tooLong:
            problems.add(
                .urlTooLong, at: pointer, "The link is longer than \(URLRules.maximumCharacters) characters.",
                remedy: "Shorten it.")
        case .invalid where template?.hasPlaceholders == false:
            problems.add(
                .urlInvalid, at: pointer, "This is no link that may be opened.",
                remedy: "Give an absolute link such as https://host/path or app://place, without white space.")
        case .invalid, nil: break
        }
        return template
    }

    /// An image or icon.
    mutating func image(_ key: String, of members: JSONMembers, else code: ProblemCode) -> String? {
        guard let text = problems.string(key, of: members) else { return nil }
        if refusePlaceholder(text, at: members.pointer / key) { return nil }
        guard URLRules.isValidImage(text) else {
            problems.add(
                code, at: members.pointer / key, "This is no image address.",
                remedy: "Give an absolute https address of at most \(URLRules.maximumCharacters) characters.")
            return nil
        }
        return text
    }

    // MARK: - Buttons

    private mutating func actions(_ members: JSONMembers) -> [Variant.Action] {
        guard let elements = problems.array("actions", of: members) else { return [] }
        let pointer = members.pointer / "actions"
        if elements.count > 3 {
            problems.add(
                .actionsTooMany, at: pointer, "There are \(elements.count) buttons.", remedy: "Keep at most 3.")
        }
        var ids: Set<String> = []
        return elements.enumerated().compactMap { index, element in
            action(element, at: pointer / index, ids: &ids)
        }
    }

    private mutating func action(_ value: JSONValue, at pointer: JSONPointer, ids: inout Set<String>) -> Variant.Action?
    {
        guard let members = problems.object(value, at: pointer, known: ["id", "title", "url"]) else { return nil }
        let id = actionID(members)
        if let id, !ids.insert(id).inserted {
            problems.add(
                .actionIDDuplicate, at: pointer / "id", "Another button of this language has this id.",
                remedy: "Give each button an id of its own.")
        }
        let title = actionTitle(members)
        let url = link("url", of: members)
        guard let id, let title else { return nil }
        return Variant.Action(id: id, title: title, url: url)
    }

    private mutating func actionID(_ members: JSONMembers) -> String? {
        let value = members["id"] ?? .string("")
        guard let id = problems.string(value, at: members.pointer / "id") else { return nil }
        let isValid =
            1...32 ~= id.utf8.count
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        if isValid { return id }
        problems.add(
            .actionIDInvalid, at: members.pointer / "id", "This is no id for a button.",
            remedy: "Use 1 to 32 of a-z, 0-9, _ and -.")
        return nil
    }

    private mutating func actionTitle(_ members: JSONMembers) -> String? {
        let remedy = "Write what the button does, in at most 40 characters."
        guard let title = problems.inkedString("title", of: members, else: .actionTitleMissing, remedy: remedy) else {
            return nil
        }
        if CharacterCount.of(title, exceeds: 40) {
            problems.add(
                .actionTitleTooLong, at: members.pointer / "title", "The title is longer than 40 characters.",
                remedy: remedy)
        }
        return refusePlaceholder(title, at: members.pointer / "title") ? nil : title
    }

    private mutating func refusePlaceholder(_ text: String, at pointer: JSONPointer) -> Bool {
        let bytes = text.utf8
        guard zip(bytes, bytes.dropFirst()).contains(where: { $0 == UInt8(ascii: "{") && $1 == UInt8(ascii: "{") })
        else {
            return false
        }
        problems.add(
            .placeholderNotAllowed, at: pointer, "Placeholders are not filled in here.",
            remedy: "Use them in title, body and url only.")
        return true
    }
}
