extension CampaignReader {
    private static let audienceFields = [
        "all", "and", "or", "not", "transport", "platform", "language", "tag", "attribute", "registered", "seen",
        "user", "externalId", "segment",
    ]
    private static let comparisons = ["eq", "ne", "lt", "lte", "gt", "gte", "in", "exists"]
    /// Audiences within audiences.
    private static let maximumDepth = 16
    /// Conditions of one audience, which bounds the statement that it becomes.
    private static let maximumConditions = 500
    private static let maximumListLength = 100_000
    /// Bytes of a name or value that subscribers are compared with.
    private static let maximumTextBytes = 1024

    mutating func audience(_ file: JSONMembers) -> Audience? {
        guard let value = file["audience"] else {
            invalid(
                file.pointer / "audience", "Nobody is named who should get it.",
                remedy: "Give an audience; everybody is {\"all\": true}.")
            return nil
        }
        return audience(value, at: file.pointer / "audience")
    }

    mutating func audience(_ value: JSONValue, at pointer: JSONPointer) -> Audience? {
        let audience = audience(value, at: pointer, depth: 0)
        if let audience, audience.conditions > Self.maximumConditions {
            invalid(
                pointer, "There are \(audience.conditions) conditions; \(Self.maximumConditions) may be.",
                remedy: "Name many values in one list, or mark the subscribers with a tag.")
        }
        return audience
    }

    /// Numbers are compared as PostgreSQL keeps them, to the last digit: one that we would change is refused.
    /// - Parameter member: of the file's root; nil = the whole text.
    mutating func refuseInexactNumbers(in json: [UInt8], of member: String?) {
        guard let outline = try? JSONSyntax.outline(of: json) else { return }
        let range = member.map { name in outline.members?.first { $0.name == name }?.value } ?? json.indices
        guard let range, !ExactNumbers.allExact(in: json[range]) else { return }
        invalid(
            member.map { .root / $0 } ?? .root, "A number has more digits than can be compared exactly.",
            remedy: "Use whole numbers of 64 bits or at most 15 digits, or compare texts.")
    }

    /// `{"topic": "…"}` or `{"condition": "…"}` as the whole audience: FCM knows who that is, we do not.
    /// - Returns: nil when the audience is of subscribers.
    mutating func target(_ file: JSONMembers) -> ProviderTarget? {
        guard case .object(let value)? = file["audience"] else { return nil }
        let members = JSONMembers(value, at: file.pointer / "audience")
        guard members.keys.count == 1, let kind = members.keys.first, ["topic", "condition"].contains(kind) else {
            return nil
        }
        // A target that cannot be read is one still, so that it is not called an unknown audience besides.
        let text = problems.string(kind, of: members) ?? ""
        let isTopic = kind == "topic"
        let target: ProviderTarget = isTopic ? .topic(text) : .condition(text)
        if case .string? = members[kind], !target.isValid {
            invalid(
                members.pointer / kind, isTopic ? "This is no topic's name." : "This is no condition.",
                remedy: isTopic
                    ? "Use 1 to 900 letters, digits, -, _, ., ~ and %, without /topics/ before them."
                    : "Write 'name' in topics, joined by && or || with a space on each side, at most 5 topics.")
        }
        return target
    }

    private mutating func audience(_ value: JSONValue, at pointer: JSONPointer, depth: Int) -> Audience? {
        guard depth < Self.maximumDepth else {
            invalid(
                pointer, "There are too many audiences within each other.", remedy: "Use at most \(Self.maximumDepth).")
            return nil
        }
        guard let members = problems.object(value, at: pointer, known: Self.audienceFields + Self.comparisons) else {
            return nil
        }
        let kinds = Self.audienceFields.filter(members.has)
        guard kinds.count == 1, let kind = kinds.first else {
            invalid(
                pointer, "An audience has one condition of these: \(Self.audienceFields.joined(separator: ", ")).",
                remedy: "Join several with and, or, not.")
            return nil
        }
        if kind != "attribute" {
            for key in Self.comparisons where members.has(key) {
                invalid(pointer / key, "A comparison needs an attribute.", remedy: "Name the attribute, or remove it.")
            }
        }
        return condition(kind, of: members, depth: depth)
    }

    private mutating func condition(_ kind: String, of members: JSONMembers, depth: Int) -> Audience? {
        let pointer = members.pointer / kind
        switch kind {
        case "all":
            if problems.bool("all", of: members) == false {
                invalid(pointer, "Nobody is no audience.", remedy: "Write true, or another condition.")
            }
            return .all
        case "and": return several("and", of: members, depth: depth).map { .and($0) }
        case "or": return several("or", of: members, depth: depth).map { .or($0) }
        case "not":
            return members["not"].flatMap { audience($0, at: pointer, depth: depth + 1) }.map { .not($0) }
        case "transport": return transports(members).map { .transport($0) }
        case "platform": return texts("platform", of: members).map { .platform($0) }
        case "language": return languages(members).map { .language($0) }
        case "tag": return texts("tag", of: members).map { .tag($0) }
        case "attribute": return attribute(members)
        case "registered": return interval("registered", of: members).map { .registered($0) }
        case "seen": return interval("seen", of: members).map { .seen($0) }
        case "user": return texts("user", of: members).map { .user($0) }
        case "externalId": return texts("externalId", of: members).map { .externalID($0) }
        default:
            return problems.inkedString("segment", of: members, else: .audienceInvalid, remedy: "Name a segment.")
                .map { .segment($0) }
        }
    }

    private mutating func several(_ key: String, of members: JSONMembers, depth: Int) -> [Audience]? {
        guard let elements = problems.array(key, of: members) else { return nil }
        if elements.isEmpty {
            invalid(members.pointer / key, "There is nothing to join.", remedy: "Give one audience at least.")
            return nil
        }
        return elements.enumerated().compactMap { index, element in
            audience(element, at: members.pointer / key / index, depth: depth + 1)
        }
    }

    /// One text or more, none of them blank.
    private mutating func texts(_ key: String, of members: JSONMembers) -> [String]? {
        guard let elements = problems.array(key, of: members) else { return nil }
        checkLength(of: elements, at: members.pointer / key)
        return elements.enumerated().compactMap { index, element in
            guard let text = problems.string(element, at: members.pointer / key / index) else { return nil }
            if WhiteSpace.isBlank(text) {
                invalid(members.pointer / key / index, "The text is empty.", remedy: "Remove it.")
            }
            checkLength(of: text, at: members.pointer / key / index)
            return text
        }
    }

    private mutating func checkLength(of elements: [JSONValue], at pointer: JSONPointer) {
        if elements.isEmpty { invalid(pointer, "The list is empty.", remedy: "Give one at least.") }
        if elements.count > Self.maximumListLength {
            invalid(
                pointer, "The list has more than \(Self.maximumListLength) elements.",
                remedy: "Mark these subscribers with a tag, and name the tag.")
        }
    }

    private mutating func checkLength(of text: String, at pointer: JSONPointer) {
        if text.utf8.count > Self.maximumTextBytes {
            invalid(pointer, "The text has more than \(Self.maximumTextBytes) bytes.", remedy: "Shorten it.")
        }
    }

    private mutating func transports(_ members: JSONMembers) -> [TransportKind]? {
        guard let names = texts("transport", of: members) else { return nil }
        return names.compactMap { name in
            if let kind = TransportKind(name: name) { return kind }
            let known = TransportKind.allCases.map(\.name).joined(separator: ", ")
            invalid(members.pointer / "transport", "There is no such transport.", remedy: "Use: \(known).")
            return nil
        }
    }

    private mutating func languages(_ members: JSONMembers) -> [String]? {
        guard let tags = texts("language", of: members) else { return nil }
        for tag in tags where LanguageTag(key: tag) == nil {
            invalid(members.pointer / "language", "This is no language tag.", remedy: "Use tags such as en or pt-BR.")
        }
        return tags
    }

    private mutating func interval(_ key: String, of members: JSONMembers) -> Audience.Interval? {
        guard let ends = problems.object(key, of: members, known: ["after", "before"]) else { return nil }
        let interval = Audience.Interval(
            after: instant("after", of: ends, else: .audienceInvalid),
            before: instant("before", of: ends, else: .audienceInvalid))
        if ends.isEmpty {
            invalid(ends.pointer, "There is no instant.", remedy: "Give after, before, or both.")
        }
        return interval
    }

    private mutating func attribute(_ members: JSONMembers) -> Audience? {
        let name = problems.inkedString(
            "attribute", of: members, else: .audienceInvalid, remedy: "Name one of the subscribers' attributes.")
        if let name { checkLength(of: name, at: members.pointer / "attribute") }
        let kinds = Self.comparisons.filter(members.has)
        guard kinds.count == 1, let kind = kinds.first, let value = members[kind] else {
            invalid(
                members.pointer, "An attribute is compared once.",
                remedy: "Give one of \(Self.comparisons.joined(separator: ", ")).")
            return nil
        }
        guard let comparison = comparison(kind, value, at: members.pointer / kind, of: members), let name else {
            return nil
        }
        return .attribute(name: name, comparison)
    }

    private mutating func comparison(
        _ kind: String, _ value: JSONValue, at pointer: JSONPointer, of members: JSONMembers
    ) -> Audience.Comparison? {
        switch kind {
        case "exists": return problems.bool("exists", of: members).map { .exists($0) }
        case "in":
            guard let elements = problems.array("in", of: members) else { return nil }
            checkLength(of: elements, at: pointer)
            for (index, element) in elements.enumerated() { _ = scalar(element, at: pointer / index) }
            return .among(elements)
        default:
            guard let scalar = scalar(value, at: pointer) else { return nil }
            if case .bool = scalar, kind != "eq", kind != "ne" {
                invalid(pointer, "true and false have no order.", remedy: "Use eq or ne.")
            }
            switch kind {
            case "eq": return .equal(scalar)
            case "ne": return .notEqual(scalar)
            case "lt": return .less(scalar)
            case "lte": return .lessOrEqual(scalar)
            case "gt": return .greater(scalar)
            default: return .greaterOrEqual(scalar)
            }
        }
    }

    private mutating func scalar(_ value: JSONValue, at pointer: JSONPointer) -> JSONValue? {
        switch value {
        case .string(let text):
            checkLength(of: text, at: pointer)
            return value
        case .integer, .double, .bool: return value
        case .null, .array, .object:
            problems.addWrongType(value, at: pointer, expected: "a text, a number, true or false")
            return nil
        }
    }

    private mutating func invalid(_ pointer: JSONPointer, _ message: String, remedy: String) {
        problems.add(.audienceInvalid, at: pointer, message, remedy: remedy)
    }
}

extension Audience {
    /// How many conditions it is made of, joints included.
    fileprivate var conditions: Int {
        switch self {
        case .and(let parts), .or(let parts): parts.reduce(1) { $0 + $1.conditions }
        case .not(let part): 1 + part.conditions
        case .all, .transport, .platform, .language, .tag, .attribute, .registered, .seen, .user, .externalID,
            .segment:
            1
        }
    }
}
