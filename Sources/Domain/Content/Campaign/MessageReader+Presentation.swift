extension MessageReader {
    private static let presentationFields = [
        "sound", "badge", "threadId", "icon", "interruptionLevel", "relevanceScore", "channelId",
    ]

    /// Content model §5, bounds of D-19.
    mutating func presentation(_ members: JSONMembers) -> Presentation {
        guard let fields = problems.object("presentation", of: members, known: Self.presentationFields) else {
            return Presentation()
        }
        return Presentation(
            sound: name("sound", of: fields),
            badge: problems.integer("badge", of: fields, in: 0...99_999, else: .presentationInvalid),
            threadId: threadID(fields),
            icon: image("icon", of: fields, else: .presentationInvalid),
            interruptionLevel: problems.word("interruptionLevel", of: fields, else: .presentationInvalid),
            relevanceScore: relevance(fields),
            channelId: name("channelId", of: fields))
    }

    /// `^[A-Za-z0-9_.-]{1,64}$`
    private mutating func name(_ key: String, of fields: JSONMembers) -> String? {
        guard let text = problems.string(key, of: fields) else { return nil }
        if BundleName.isValid(text) { return text }
        problems.add(
            .presentationInvalid, at: fields.pointer / key, "The \(key) is no name.",
            remedy: "Use 1 to 64 letters, digits, _, . and -.")
        return nil
    }

    private mutating func threadID(_ fields: JSONMembers) -> String? {
        guard let text = problems.string("threadId", of: fields) else { return nil }
        if !text.isEmpty, !CharacterCount.of(text, exceeds: 64) { return text }
        problems.add(
            .presentationInvalid, at: fields.pointer / "threadId", "The threadId is empty or too long.",
            remedy: "Use 1 to 64 characters.")
        return nil
    }

    private mutating func relevance(_ fields: JSONMembers) -> Double? {
        guard let score = problems.number("relevanceScore", of: fields) else { return nil }
        if 0...1 ~= score { return score }
        problems.add(
            .presentationInvalid, at: fields.pointer / "relevanceScore", "The relevanceScore is out of its range.",
            remedy: "Give a number from 0 to 1.")
        return nil
    }
}
