/// Arguments that several commands share, defined in a type of their own.
@propertyWrapper package struct OptionGroup<Value: ParsableArguments & Sendable>: ArgumentSource, Sendable {
    package var wrappedValue: Value

    package init() { wrappedValue = Value() }

    func definitions(of property: String) -> [ArgumentDefinition] { wrappedValue.definitions }
}

/// So that the parser can validate a group that it only sees through a mirror.
protocol ValidatedGroup {
    func validateGroup() throws
}

extension OptionGroup: ValidatedGroup {
    func validateGroup() throws {
        var group = wrappedValue
        try group.validateAll()
    }
}

extension ParsableArguments {
    /// Groups first: the command may rely on them.
    mutating func validateAll() throws {
        for child in Mirror(reflecting: self).children {
            try (child.value as? any ValidatedGroup)?.validateGroup()
        }
        try validate()
    }
}
