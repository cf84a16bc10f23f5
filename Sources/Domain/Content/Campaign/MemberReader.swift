/// An object of the file on its way to typed values: where it stands, and what it holds.
struct JSONMembers {
    let pointer: JSONPointer
    private let members: [String: JSONValue]

    init(_ members: [String: JSONValue], at pointer: JSONPointer) {
        self.members = members
        self.pointer = pointer
    }

    var keys: [String] { members.keys.sorted() }
    var isEmpty: Bool { members.isEmpty }
    subscript(key: String) -> JSONValue? { members[key] }
    func has(_ key: String) -> Bool { members[key] != nil }
}

extension ProblemList {
    /// - Parameter known: what may stand there; nil = anything.
    mutating func object(_ value: JSONValue, at pointer: JSONPointer, known: [String]?) -> JSONMembers? {
        guard case .object(let members) = value else {
            addWrongType(value, at: pointer, expected: "an object")
            return nil
        }
        if let known {
            for key in members.keys.sorted() where !known.contains(key) {
                add(
                    .unknownField, at: pointer / key, "There is no such member here.",
                    remedy: "Remove it or correct its spelling. Known here: \(known.joined(separator: ", ")).")
            }
        }
        return JSONMembers(members, at: pointer)
    }

    mutating func object(_ key: String, of parent: JSONMembers, known: [String]?) -> JSONMembers? {
        guard let value = parent[key] else { return nil }
        return object(value, at: parent.pointer / key, known: known)
    }

    mutating func array(_ key: String, of parent: JSONMembers) -> [JSONValue]? {
        switch parent[key] {
        case nil: return nil
        case .array(let elements)?: return elements
        case let other?:
            addWrongType(other, at: parent.pointer / key, expected: "an array")
            return nil
        }
    }

    mutating func string(_ key: String, of parent: JSONMembers) -> String? {
        guard let value = parent[key] else { return nil }
        return string(value, at: parent.pointer / key)
    }

    mutating func string(_ value: JSONValue, at pointer: JSONPointer) -> String? {
        guard case .string(let text) = value else {
            addWrongType(value, at: pointer, expected: "a text")
            return nil
        }
        return text
    }

    /// A text that must be there and not blank; anything else is `code`, save for a wrong type.
    mutating func inkedString(_ key: String, of parent: JSONMembers, else code: ProblemCode, remedy: String) -> String?
    {
        guard let value = parent[key] else {
            add(code, at: parent.pointer / key, "The \(key) is missing.", remedy: remedy)
            return nil
        }
        guard let text = string(value, at: parent.pointer / key) else { return nil }
        guard !WhiteSpace.isBlank(text) else {
            add(code, at: parent.pointer / key, "The \(key) is empty.", remedy: remedy)
            return nil
        }
        return text
    }

    mutating func bool(_ key: String, of parent: JSONMembers) -> Bool? {
        switch parent[key] {
        case nil: return nil
        case .bool(let flag)?: return flag
        case let other?:
            addWrongType(other, at: parent.pointer / key, expected: "true or false")
            return nil
        }
    }

    mutating func number(_ key: String, of parent: JSONMembers) -> Double? {
        switch parent[key] {
        case nil: return nil
        case .integer(let number)?: return Double(number)
        case .double(let number)?: return number
        case let other?:
            addWrongType(other, at: parent.pointer / key, expected: "a number")
            return nil
        }
    }

    /// A whole number in `range`; another number is `code`.
    mutating func integer(
        _ key: String, of parent: JSONMembers, in range: ClosedRange<Int>, else code: ProblemCode
    ) -> Int? {
        guard let number = number(key, of: parent) else { return nil }
        guard let whole = Int(exactly: number), range.contains(whole) else {
            add(
                code, at: parent.pointer / key, "The \(key) is out of its range.",
                remedy: "Give a whole number from \(range.lowerBound) to \(range.upperBound).")
            return nil
        }
        return whole
    }

    /// One of a few words; another text is `code`.
    mutating func word<Word: RawRepresentable & CaseIterable>(
        _ key: String, of parent: JSONMembers, else code: ProblemCode
    ) -> Word? where Word.RawValue == String {
        guard let text = string(key, of: parent) else { return nil }
        if let word = Word(rawValue: text) { return word }
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        add(code, at: parent.pointer / key, "The \(key) is not one of its words.", remedy: "Use one of: \(words).")
        return nil
    }

    mutating func addWrongType(_ value: JSONValue, at pointer: JSONPointer, expected: String) {
        add(.typeInvalid, at: pointer, "This is \(value.kind).", remedy: "Give \(expected), or leave the member out.")
    }

    /// U+0000 anywhere, also within `data`: PostgreSQL cannot store it (D-7).
    mutating func refuseNulls(in value: JSONValue, at pointer: JSONPointer) {
        switch value {
        case .string(let text):
            if text.utf8.contains(0) { addNull(at: pointer) }
        case .array(let elements):
            for (index, element) in elements.enumerated() { refuseNulls(in: element, at: pointer / index) }
        case .object(let members):
            for (key, member) in members {
                if key.utf8.contains(0) { addNull(at: pointer / key) }
                refuseNulls(in: member, at: pointer / key)
            }
        case .null, .bool, .integer, .double: break
        }
    }

    private mutating func addNull(at pointer: JSONPointer) {
        add(.characterInvalid, at: pointer, "The text holds the character U+0000.", remedy: "Remove that character.")
    }
}
