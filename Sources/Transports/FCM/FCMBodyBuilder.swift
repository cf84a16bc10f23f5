import Domain

/// Collects the parts of a body; neighbouring literals become one.
struct FCMBodyBuilder {
    private(set) var parts: [FCMBodyPart] = []

    /// JSON as it stands on the wire.
    mutating func literal(_ json: String) { append(Array(json.utf8)) }

    /// Text within a JSON string.
    mutating func text(_ text: String) { append(JSONBytes.escaped(text, .json)) }

    /// JSON that is itself the text of a JSON string.
    mutating func nested(_ json: String) { append(JSONBytes.escaped(json, .json)) }

    /// Text within a JSON string of such nested JSON.
    mutating func nestedText(_ text: String) { append(JSONBytes.escaped(text, .jsonTwice)) }

    mutating func part(_ part: FCMBodyPart) {
        if case .literal(let bytes) = part { append(bytes) } else { parts.append(part) }
    }

    /// What the literals weigh.
    var literalBytes: Int {
        var weight = 0
        for case .literal(let bytes) in parts { weight += bytes.count }
        return weight
    }

    private mutating func append(_ bytes: [UInt8]) {
        if case .literal(let before) = parts.last {
            parts[parts.count - 1] = .literal(before + bytes)
        } else {
            parts.append(.literal(bytes))
        }
    }
}
