import Domain

/// The members of one JSON object, put together in any order and written sorted by key.
struct WebPushMembers {
    typealias Part = WebPushPreparedMessage.Part

    private var entries: [String: [Part]] = [:]

    var isEmpty: Bool { entries.isEmpty }

    mutating func set(_ key: String, json: String) { entries[key] = [.literal(Array(json.utf8))] }

    mutating func set(_ key: String, text: String?) {
        guard let text else { return }
        entries[key] = [.literal(Self.quoted(text))]
    }

    mutating func set(_ key: String, _ template: CompiledTemplate) {
        entries[key] = [.literal([UInt8(ascii: "\"")]), .template(template), .literal([UInt8(ascii: "\"")])]
    }

    /// The job's id.
    mutating func setID(_ key: String) {
        entries[key] = [.literal([UInt8(ascii: "\"")]), .id, .literal([UInt8(ascii: "\"")])]
    }

    mutating func set(_ key: String, _ object: WebPushMembers) { entries[key] = object.parts }

    mutating func set(_ key: String, _ list: [WebPushMembers]) {
        var parts: [Part] = []
        for (index, object) in list.enumerated() {
            parts.append(.literal(Array((index == 0 ? "[" : ",").utf8)))
            parts += object.parts
        }
        entries[key] = parts + [.literal([UInt8(ascii: "]")])]
    }

    /// The object, neighbouring literals joined.
    var parts: [Part] {
        var parts: [Part] = []
        let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        for (index, entry) in sorted.enumerated() {
            Self.append(.literal([UInt8(ascii: index == 0 ? "{" : ",")]), to: &parts)
            Self.append(.literal(Self.quoted(entry.key) + [UInt8(ascii: ":")]), to: &parts)
            for part in entry.value { Self.append(part, to: &parts) }
        }
        Self.append(.literal(Array((sorted.isEmpty ? "{}" : "}").utf8)), to: &parts)
        return parts
    }

    private static func append(_ part: Part, to parts: inout [Part]) {
        if case .literal(let bytes) = part, case .literal(let before) = parts.last {
            parts[parts.count - 1] = .literal(before + bytes)
        } else {
            parts.append(part)
        }
    }

    private static func quoted(_ text: String) -> [UInt8] {
        [UInt8(ascii: "\"")] + JSONBytes.escaped(text, .json) + [UInt8(ascii: "\"")]
    }
}
