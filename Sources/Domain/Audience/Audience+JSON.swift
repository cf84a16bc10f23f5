extension Audience {
    /// As an author writes it; reading it gives the same audience.
    package var json: JSONValue {
        switch self {
        case .all: ["all": .bool(true)]
        case .and(let parts): ["and": .array(parts.map(\.json))]
        case .or(let parts): ["or": .array(parts.map(\.json))]
        case .not(let part): ["not": part.json]
        case .transport(let kinds): ["transport": .array(kinds.map { .string($0.name) })]
        case .platform(let names): ["platform": Self.texts(names)]
        case .language(let tags): ["language": Self.texts(tags)]
        case .tag(let tags): ["tag": Self.texts(tags)]
        case .attribute(let name, let comparison): .object(comparison.members(of: name))
        case .registered(let interval): ["registered": interval.json]
        case .seen(let interval): ["seen": interval.json]
        case .user(let users): ["user": Self.texts(users)]
        case .externalID(let ids): ["externalId": Self.texts(ids)]
        case .segment(let name): ["segment": .string(name)]
        }
    }

    /// Reads an audience that was stored, or is to be stored under a name, as strictly as a campaign's.
    /// - Throws: everything that is wrong, with pointers from the audience's own root.
    package init(json: [UInt8]) throws(ContentProblems) {
        let value = try CampaignFile.value(json, limit: CampaignFile.maximumBytes)
        var reader = CampaignReader(ProblemList(mode: .strict), meter: nil)
        reader.problems.refuseNulls(in: value, at: .root)
        reader.refuseInexactNumbers(in: json, of: nil)
        let audience = reader.audience(value, at: .root)
        try reader.problems.throwIfAny()
        // Nothing was wrong, so there is one.
        self = audience ?? .all
    }

    package init(storedJSON text: String) throws(ContentProblems) {
        try self.init(json: Array(text.utf8))
    }

    private static func texts(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}

extension Audience.Comparison {
    fileprivate func members(of name: String) -> [String: JSONValue] {
        let (key, value): (String, JSONValue) =
            switch self {
            case .equal(let value): ("eq", value)
            case .notEqual(let value): ("ne", value)
            case .less(let value): ("lt", value)
            case .lessOrEqual(let value): ("lte", value)
            case .greater(let value): ("gt", value)
            case .greaterOrEqual(let value): ("gte", value)
            case .among(let values): ("in", .array(values))
            case .exists(let isThere): ("exists", .bool(isThere))
            }
        return ["attribute": .string(name), key: value]
    }
}

extension Audience.Interval {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [:]
        if let after { members["after"] = .string(after.rfc3339) }
        if let before { members["before"] = .string(before.rfc3339) }
        return .object(members)
    }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
