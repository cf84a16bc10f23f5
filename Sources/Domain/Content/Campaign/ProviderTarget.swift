/// Whom FCM itself fans a message out to (FCM guide "Send messages to topics").
package enum ProviderTarget: Sendable, Equatable {
    /// The name without `/topics/`.
    case topic(String)
    /// `'a' in topics && !('b' in topics)`, at most five topics.
    case condition(String)

    /// Such a message may weigh half of what one for a device may.
    package static let maximumBytes = 2048

    package static let topicPrefix = "/topics/"
    package static let conditionPrefix = "condition:"

    /// What stands as the address of the row that it is sent to.
    package var address: String {
        switch self {
        case .topic(let name): Self.topicPrefix + name
        case .condition(let text): Self.conditionPrefix + text
        }
    }

    /// Whether an address would reach a topic: no subscriber may bring such a one.
    static func isMeant(by address: String) -> Bool {
        address.hasPrefix(topicPrefix) || address.hasPrefix(conditionPrefix)
    }

    package var isValid: Bool {
        switch self {
        case .topic(let name): ProviderLabel.isValid(name, atMost: 900)
        case .condition(let text): TopicConditionGrammar.isValid(text)
        }
    }
}

/// The expression of a condition; nothing else is accepted (FCM guide "Send messages to topics", spaces as observed):
///
///     expr  = term *( SP ( "&&" / "||" ) SP term )
///     term  = [ "!" ] "(" expr ")" / topic
///     topic = "'" 1*900 label byte "'" SP "in" SP "topics"
private struct TopicConditionGrammar {
    private static let maximumTopics = 5
    private static let maximumDepth = 20

    private var rest: Substring.UTF8View
    private var topics = 0
    private var depth = 0

    static func isValid(_ text: String) -> Bool {
        var grammar = TopicConditionGrammar(rest: Substring(text).utf8)
        return grammar.expression() && grammar.rest.isEmpty && grammar.topics <= maximumTopics
    }

    private init(rest: Substring.UTF8View) { self.rest = rest }

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
        return depth <= Self.maximumDepth && expression() && take(")")
    }

    private mutating func topic() -> Bool {
        guard take("'") else { return false }
        let name = rest.prefix(while: ProviderLabel.isLabelByte)
        guard 1...900 ~= name.count else { return false }
        rest = rest.dropFirst(name.count)
        topics += 1
        return take("' in topics")
    }

    private mutating func take(_ expected: String) -> Bool {
        guard rest.starts(with: expected.utf8) else { return false }
        rest = rest.dropFirst(expected.utf8.count)
        return true
    }
}
