/// Turns the `message` object into a `Message`, naming everything that is wrong with it (content model §2 to §8).
package struct MessageReader {
    var problems: ProblemList

    private static let known = ["content", "presentation", "data", "silent", "overrides", "template"]

    init(_ problems: ProblemList) { self.problems = problems }

    /// Reads content as it was stored with a content version.
    /// - Throws: `ContentProblems` when it breaks a strict rule; pointers start at the message itself.
    package static func message(from json: String) throws(ContentProblems) -> Message {
        let value = try CampaignFile.value(Array(json.utf8), limit: CampaignFile.maximumBytes)
        var reader = MessageReader(ProblemList(mode: .strict))
        reader.problems.refuseNulls(in: value, at: .root)
        let source = reader.source(value, at: .root)
        try reader.problems.throwIfAny()
        guard case .inline(let message)? = source else {
            throw ContentProblems([
                Problem(
                    pointer: "/content", code: ProblemCode.contentMissing.rawValue,
                    message: "The message names a template.", remedy: "Give the content itself.")
            ])
        }
        return message
    }

    /// - Returns: nil when there is nothing to send as it stands.
    mutating func source(_ value: JSONValue, at pointer: JSONPointer) -> MessageSource? {
        guard let members = problems.object(value, at: pointer, known: Self.known) else { return nil }
        if members.has("template") { return template(members) }
        let silent = problems.bool("silent", of: members)
        let data = data(members)
        let overrides = overrides(members)
        if silent == true {
            // Content and presentation are ignored, but what cannot be JSON of ours is still named.
            _ = problems.object("content", of: members, known: nil)
            _ = problems.object("presentation", of: members, known: nil)
            return .inline(
                Message(
                    variants: [], defaultVariant: 0, presentation: Presentation(), data: data, silent: true,
                    overrides: overrides))
        }
        let presentation = presentation(members)
        // With a `silent` that cannot be read, nobody knows whether content is due.
        if !members.has("content"), members.has("silent"), silent == nil { return nil }
        guard let (variants, defaultVariant) = content(members) else { return nil }
        return .inline(
            Message(
                variants: variants, defaultVariant: defaultVariant, presentation: presentation, data: data,
                silent: false, overrides: overrides))
    }

    private mutating func template(_ members: JSONMembers) -> MessageSource? {
        for key in members.keys where key != "template" && Self.known.contains(key) {
            problems.add(
                .unknownField, at: members.pointer / key, "A message that names a template has nothing beside it.",
                remedy: "Remove this member or the template.")
        }
        let name = problems.inkedString(
            "template", of: members, else: .templateUnknown, remedy: "Name a stored template.")
        return name.map { .template(name: $0) }
    }

    private mutating func overrides(_ members: JSONMembers) -> Overrides {
        var reader = OverridesReader(problems)
        defer { problems = reader.problems }
        return reader.overrides(members)
    }
}
