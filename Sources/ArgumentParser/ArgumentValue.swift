import Threading

/// The value of an option or argument and how words become it.
///
/// It is shared by the copies of a command, since the parser fills in a command that it only sees through a mirror.
struct ArgumentValue<Value: Sendable>: Sendable {
    private struct Content: Sendable {
        var value: Value?
        var wasGiven = false
    }

    private let content: Locked<Content>
    private let isRequired: Bool
    private let isRepeating: Bool
    private let allValues: [String]
    private let defaultDescription: String?
    private let expectation: String
    /// Nil if the word stands for nothing; else what the value is after it, and after what was given before.
    private let adding: @Sendable (_ word: String, _ given: Value?) -> Value?

    var value: Value {
        get {
            guard let value = content.withLock({ $0.value }) else {
                preconditionFailure("A required argument was read from a command that was not parsed.")
            }
            return value
        }
        nonmutating set { content.withLock { $0.value = newValue } }
    }

    func definition(
        _ kind: ArgumentDefinition.Kind, names: [String], property: String, help: ArgumentHelp
    ) -> ArgumentDefinition {
        ArgumentDefinition(
            kind: kind, names: names, valueName: help.valueName ?? property.kebabCased, help: help,
            isRequired: isRequired, isRepeating: isRepeating, allValues: allValues,
            defaultDescription: defaultDescription, expectation: expectation,
            accept: { word in
                content.withLock { content in
                    guard let value = adding(word, content.wasGiven ? content.value : nil) else { return false }
                    content.value = value
                    content.wasGiven = true
                    return true
                }
            },
            wasGiven: { content.withLock { $0.wasGiven } })
    }
}

extension ArgumentValue where Value: ExpressibleByArgument {
    /// Required if there is no default.
    init(default initial: Value?) {
        content = Locked(Content(value: initial))
        isRequired = initial == nil
        isRepeating = false
        allValues = Value.allValueStrings
        defaultDescription = initial?.defaultValueDescription
        expectation = Value.expectation
        adding = { word, _ in Value(argument: word) }
    }
}

extension ArgumentValue {
    init<Element: ExpressibleByArgument>(optional: Element.Type) where Value == Element? {
        content = Locked(Content(value: .some(nil)))
        isRequired = false
        isRepeating = false
        allValues = Element.allValueStrings
        defaultDescription = nil
        expectation = Element.expectation
        adding = { word, _ in Element(argument: word).map { .some($0) } }
    }

    /// What is given replaces the default. Without one, at least one value is required.
    init<Element: ExpressibleByArgument>(array initial: [Element]?) where Value == [Element] {
        content = Locked(Content(value: initial))
        isRequired = initial == nil
        isRepeating = true
        allValues = Element.allValueStrings
        let described = (initial ?? []).map(\.defaultValueDescription).joined(separator: ", ")
        defaultDescription = described.isEmpty ? nil : described
        expectation = Element.expectation
        adding = { word, given in Element(argument: word).map { (given ?? []) + [$0] } }
    }
}

extension ArgumentValue<Bool> {
    init(flag initial: Bool) {
        content = Locked(Content(value: initial))
        isRequired = false
        isRepeating = false
        allValues = []
        defaultDescription = nil
        expectation = ""
        adding = { _, _ in true }
    }
}
