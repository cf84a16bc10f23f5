/// The expression of a `condition` target (fcm.md §7): `'a' in topics && !('b' in topics)`.
///
///     expr  = term *( SP ( "&&" / "||" ) SP term )
///     term  = [ "!" ] "(" expr ")" / topic
///     topic = "'" 1*900 label byte "'" SP "in" SP "topics"
struct TopicCondition {
    /// Topics in one condition.
    static let limit = 5

    private let text: [UInt8]
    private var index = 0
    private var topics = 0
    private var depth = 0

    static func isValid(_ text: [UInt8]) -> Bool {
        var condition = TopicCondition(text: text)
        return condition.expression() && condition.index == text.count && condition.topics <= limit
    }

    private init(text: [UInt8]) {
        self.text = text
    }

    private mutating func expression() -> Bool {
        guard term() else { return false }
        while take(" && ") || take(" || ") {
            guard term() else { return false }
        }
        return true
    }

    private mutating func term() -> Bool {
        let isNegated = take("!")
        guard take("(") else { return !isNegated && topic() }
        depth += 1
        defer { depth -= 1 }
        return depth <= 20 && expression() && take(")")
    }

    private mutating func topic() -> Bool {
        guard take("'") else { return false }
        let name = text[index...].prefix(while: TextRules.isLabelByte)
        guard (1...900).contains(name.count) else { return false }
        index += name.count
        topics += 1
        return take("' in topics")
    }

    private mutating func take(_ expected: String) -> Bool {
        guard text[index...].starts(with: expected.utf8) else { return false }
        index += expected.utf8.count
        return true
    }
}
