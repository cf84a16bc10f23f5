import Domain

/// The members of a data message's `message.data`, all of them texts (content model §11.2).
struct FCMDataEntries {
    private var entries: [(key: String, parts: [FCMBodyPart])] = []
    private let names: [String]

    /// - Parameter names: the content version's placeholder names.
    init(names: [String]) { self.names = names }

    mutating func addID() { entries.append(("id", [.id])) }

    mutating func add(_ key: String, _ value: String?) {
        guard let value else { return }
        entries.append((key, [.literal(JSONBytes.escaped(value, .json))]))
    }

    mutating func add(_ variant: Variant) {
        add("title", variant.title, field: .text)
        add("body", variant.body, field: .text)
        add("image", variant.image)
        if let url = variant.url { add("url", url, field: .url) }
        if !variant.actions.isEmpty { add(variant.actions) }
    }

    /// Interruption level and relevance are for Apple's devices only.
    mutating func add(_ presentation: Presentation) {
        add("sound", presentation.sound)
        add("badge", presentation.badge.map { String($0) })
        add("threadId", presentation.threadId)
        add("icon", presentation.icon)
        add("channelId", presentation.channelId)
    }

    /// A flat object as JSON text within the string.
    mutating func addObject(_ key: String, _ members: [Message.DataEntry]) {
        var builder = FCMBodyBuilder()
        for (index, member) in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }).enumerated() {
            builder.nested(index == 0 ? #"{""# : #",""#)
            builder.nestedText(member.key)
            builder.nested(#"":""#)
            builder.nestedText(member.value)
            builder.nested(#"""#)
        }
        builder.nested("}")
        entries.append((key, builder.parts))
    }

    var node: FCMNode {
        .object(Dictionary(uniqueKeysWithValues: entries.map { ($0.key, .string($0.parts)) }))
    }

    private mutating func add(_ key: String, _ template: Template, field: TemplateField) {
        let compiled = CompiledTemplate(template, field: field, names: names, escaping: .json)
        entries.append((key, [.template(compiled)]))
    }

    /// The buttons as JSON text within the string: what their addresses take from a subscriber is escaped twice.
    private mutating func add(_ actions: [Variant.Action]) {
        var builder = FCMBodyBuilder()
        for (index, action) in actions.enumerated() {
            builder.nested(index == 0 ? #"[{"id":""# : #",{"id":""#)
            builder.nestedText(action.id)
            builder.nested(#"","title":""#)
            builder.nestedText(action.title)
            if let url = action.url {
                builder.nested(#"","url":""#)
                builder.part(
                    .template(CompiledTemplate(url, field: .url, names: names, escaping: .jsonTwice)))
            }
            builder.nested(#""}"#)
        }
        builder.nested("]")
        entries.append(("actions", builder.parts))
    }
}
