/// The send request's schema, compiled for reading: a field is found by one probe of a hash table.
///
/// `Schema+Fields.swift` lists the fields; a test compares them with the discovery document.
final class Schema: Sendable {
    static let fcm = Schema(Schema.definitions)

    let shapes: [Shape]
    let rules: [FieldRule]
    /// By rule: the name to use in errors.
    let names: [String]
    /// By rule, in both spellings.
    private let spellings: [Spelling]
    /// Index of a spelling, plus 1; 0 is an empty place.
    private let places: [UInt16]
    private let choices: [[[UInt8]]]

    private struct Spelling {
        let shape: Shape.Name
        let bytes: [UInt8]
        let rule: Int
    }

    init(_ definitions: [Definition]) {
        var shapes = [Shape](repeating: Shape(), count: Shape.Name.allCases.count)
        var rules: [FieldRule] = []
        var names: [String] = []
        var spellings: [Spelling] = []
        for definition in definitions {
            var shape = Shape()
            func bits(_ fields: [String]) -> UInt64 {
                fields.reduce(0) { mask, name in
                    mask | definition.fields.firstIndex { $0.name == name }.map { 1 << UInt64($0) }!
                }
            }
            shape.required = bits(definition.required)
            shape.exclusive = definition.exclusive.map(bits)
            shape.dependent = definition.dependent.map { (bits([$0]), bits([$1])) }
            shapes[Int(definition.shape.rawValue)] = shape
            for (index, field) in definition.fields.enumerated() {
                for name in Set([field.name, Self.camelCase(field.name)]) {
                    spellings.append(Spelling(shape: definition.shape, bytes: Array(name.utf8), rule: rules.count))
                }
                rules.append(FieldRule(kind: field.kind, role: field.role, bit: 1 << UInt64(index)))
                names.append(field.name)
            }
        }
        (self.shapes, self.rules, self.names, self.spellings) = (shapes, rules, names, spellings)
        places = Self.table(of: spellings)
        choices = [
            ["NORMAL", "HIGH", "normal", "high"],
            [
                "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH",
                "PRIORITY_MAX",
            ],
            ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"],
            ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"],
        ].map { $0.map { Array($0.utf8) } }
    }

    /// - Returns: the index of the rule for the field that `key` names in `shape`, nil if there is none.
    func rule(for key: JSONText, in shape: Shape.Name, _ scanner: JSONScanner) -> Int? {
        guard !key.isEscaped else {
            let bytes = scanner.decoded(key)
            return rule(for: bytes, bytes.indices, in: shape)
        }
        return rule(for: scanner.bytes, key.range, in: shape)
    }

    /// Values of an enumeration; any spelling that FCM takes.
    func values(of choice: FieldRule.Choice) -> [[UInt8]] {
        switch choice {
        case .androidPriority: choices[0]
        case .notificationPriority: choices[1]
        case .visibility: choices[2]
        case .proxy: choices[3]
        }
    }

    /// Lower camel case of a snake case name (proto3 JSON mapping).
    static func camelCase(_ name: String) -> String {
        let parts = name.split(separator: "_")
        return parts.dropFirst().reduce(String(parts[0])) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }

    private func rule(for bytes: [UInt8], _ range: Range<Int>, in shape: Shape.Name) -> Int? {
        var place = Self.place(bytes, range, shape) & (places.count - 1)
        while places[place] != 0 {
            let spelling = spellings[Int(places[place]) - 1]
            if spelling.shape == shape, Self.same(bytes, range, spelling.bytes) { return spelling.rule }
            place = (place + 1) & (places.count - 1)
        }
        return nil
    }

    private static func table(of spellings: [Spelling]) -> [UInt16] {
        var places = [UInt16](repeating: 0, count: 1024)
        for (index, spelling) in spellings.enumerated() {
            var place = place(spelling.bytes, spelling.bytes.indices, spelling.shape) & (places.count - 1)
            while places[place] != 0 { place = (place + 1) & (places.count - 1) }
            places[place] = UInt16(index + 1)
        }
        return places
    }

    private static func place(_ bytes: [UInt8], _ range: Range<Int>, _ shape: Shape.Name) -> Int {
        Int(truncatingIfNeeded: Hash64.hash(bytes, range, seed: UInt64(shape.rawValue)) >> 8)
    }

    private static func same(_ bytes: [UInt8], _ range: Range<Int>, _ expected: [UInt8]) -> Bool {
        guard range.count == expected.count else { return false }
        for index in 0..<expected.count where bytes[range.lowerBound + index] != expected[index] { return false }
        return true
    }
}
