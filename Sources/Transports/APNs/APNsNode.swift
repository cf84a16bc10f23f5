import Domain

/// A payload before it becomes bytes: what differs from job to job stands in its place.
indirect enum APNsNode {
    case json(JSONValue)
    case text(Template, TemplateField)
    /// `JobIdentity.text`.
    case id
    case object([String: APNsNode])
    case array([APNsNode])

    /// Puts `overrides` over this: objects member by member, anything else in its place.
    func merging(_ overrides: JSONValue) -> APNsNode {
        guard case .object(let members) = overrides else { return .json(overrides) }
        var merged: [String: APNsNode]
        switch self {
        case .object(let own): merged = own
        case .json(.object(let own)): merged = own.mapValues { .json($0) }
        case .json, .text, .id, .array: merged = [:]
        }
        for (name, member) in members { merged[name] = merged[name]?.merging(member) ?? .json(member) }
        return .object(merged)
    }

    /// Compact JSON, members sorted (content model D-25).
    func write(to body: inout APNsBodyBuilder) {
        switch self {
        case .json(let value): body.literal(value.text)
        case .text(let template, let field):
            body.literal("\"")
            body.template(template, field)
            body.literal("\"")
        case .id:
            body.literal("\"")
            body.id()
            body.literal("\"")
        case .object(let members):
            var separator = "{"
            for (name, member) in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                body.literal(separator + JSONValue.string(name).text + ":")
                member.write(to: &body)
                separator = ","
            }
            body.literal(members.isEmpty ? "{}" : "}")
        case .array(let elements):
            var separator = "["
            for element in elements {
                body.literal(separator)
                element.write(to: &body)
                separator = ","
            }
            body.literal(elements.isEmpty ? "[]" : "]")
        }
    }
}

/// Collects the parts of a body; neighbouring literals become one.
struct APNsBodyBuilder {
    private(set) var parts: [APNsBodyPart] = []
    let names: [String]

    /// - Parameter names: the content version's placeholder names.
    init(names: [String]) { self.names = names }

    /// JSON as it stands on the wire.
    mutating func literal(_ json: String) {
        if case .literal(let before) = parts.last {
            parts[parts.count - 1] = .literal(before + Array(json.utf8))
        } else {
            parts.append(.literal(Array(json.utf8)))
        }
    }

    mutating func template(_ template: Template, _ field: TemplateField) {
        parts.append(.template(CompiledTemplate(template, field: field, names: names, escaping: .json)))
    }

    mutating func id() { parts.append(.id) }
}
