import Domain

/// JSON of a message, ready but for what differs from job to job.
indirect enum FCMNode {
    case json(JSONValue)
    /// A text; the parts are escaped as JSON strings are.
    case string([FCMBodyPart])
    case object([String: FCMNode])
    /// An object whose one member is a link, left out as a whole unless that is https.
    case httpsLink(member: String, CompiledTemplate)

    init(_ value: JSONValue) {
        if case .object(let members) = value {
            self = .object(members.mapValues { FCMNode($0) })
        } else {
            self = .json(value)
        }
    }

    static func text(_ text: String) -> FCMNode { .json(.string(text)) }

    /// The node at a path; nil where there is none.
    subscript(path: String...) -> FCMNode? {
        get {
            path.reduce(self as FCMNode?) { node, key in
                if case .object(let members)? = node { members[key] } else { nil }
            }
        }
        set { set(path[...], newValue) }
    }

    private mutating func set(_ path: ArraySlice<String>, _ node: FCMNode?) {
        guard let key = path.first else { return }
        var members: [String: FCMNode] = [:]
        if case .object(let known) = self { members = known }
        if path.count == 1 {
            members[key] = node
        } else {
            var child = members[key] ?? .object([:])
            child.set(path.dropFirst(), node)
            members[key] = child
        }
        self = .object(members)
    }

    /// Lays an author's block over this: objects member by member, anything else in its place. HTTP fields are the same
    /// in either case.
    func overlaid(with value: JSONValue, isHeaders: Bool = false) -> FCMNode {
        guard case .object(let members) = self, case .object(let above) = value else {
            if case .httpsLink(let member, let template) = self, case .object(let above) = value {
                return Self.link(member, template, with: above)
            }
            return FCMNode(value)
        }
        var merged = members
        for (key, value) in above {
            if isHeaders {
                for known in merged.keys where known.lowercased() == key.lowercased() { merged[known] = nil }
            }
            merged[key] = merged[key]?.overlaid(with: value, isHeaders: key == "headers") ?? FCMNode(value)
        }
        return .object(merged)
    }

    /// What an author adds beside the link, or puts in its place.
    private static func link(
        _ member: String, _ template: CompiledTemplate, with above: [String: JSONValue]
    ) -> FCMNode {
        var merged = above.mapValues { FCMNode($0) }
        if merged[member] == nil { merged[member] = .httpsLink(member: member, template) }
        return .object(merged)
    }
}

extension FCMBodyBuilder {
    /// What counts towards a limit, by its path from the message.
    private static let shares: [String: FCMWeight.Share] = [
        "data": .data, "android/data": .androidData, "notification": .notification,
        "android/notification": .androidNotification, "apns/payload": .applePayload,
    ]

    /// Writes the message, sorted by key, its target where a token would stand.
    mutating func write(message members: [String: FCMNode]) {
        literal("{")
        var isFirst = true
        for key in (Array(members.keys) + ["token"]).sorted(by: Self.precedes) {
            if !isFirst { literal(",") }
            isFirst = false
            guard let node = members[key] else {
                part(.target)
                continue
            }
            text(key, before: "\"", after: "\":")
            write(node, path: key)
        }
        literal("}")
    }

    private mutating func write(_ node: FCMNode, path: String) {
        let share = Self.shares[path]
        if share != nil { part(.begins) }
        switch node {
        case .json(let value): literal(value.text)
        case .string(let parts):
            literal("\"")
            for part in parts { self.part(part) }
            literal("\"")
        case .object(let members): write(members, path: path)
        case .httpsLink: break  // written with its member
        }
        if let share { part(.ends(share)) }
    }

    /// What may be left out stands last, so that it brings its own comma.
    private mutating func write(_ members: [String: FCMNode], path: String) {
        literal("{")
        var isFirst = true
        var links: [(key: String, node: FCMNode)] = []
        for key in members.keys.sorted(by: Self.precedes) {
            guard let node = members[key] else { continue }
            if case .httpsLink = node {
                links.append((key, node))
                continue
            }
            text(key, before: isFirst ? "\"" : ",\"", after: "\":")
            isFirst = false
            write(node, path: path + "/" + key)
        }
        for case (let key, .httpsLink(let member, let template)) in links {
            let comma = isFirst ? "" : ","
            let isOwn = key == member
            part(
                .httpsLink(
                    before: Array((isOwn ? "\(comma)\"\(key)\":\"" : "\(comma)\"\(key)\":{\"\(member)\":\"").utf8),
                    template, after: Array((isOwn ? "\"" : "\"}").utf8)))
        }
        literal("}")
    }

    private mutating func text(_ key: String, before: String, after: String) {
        literal(before)
        text(key)
        literal(after)
    }

    static func precedes(_ first: String, _ second: String) -> Bool {
        first.utf8.lexicographicallyPrecedes(second.utf8)
    }
}
