/// A value without a name, by its place. An array takes all that are left, so it comes last.
@propertyWrapper package struct Argument<Value: Sendable>: ArgumentSource, Sendable {
    private let content: ArgumentValue<Value>
    private let help: ArgumentHelp

    package var wrappedValue: Value {
        get { content.value }
        nonmutating set { content.value = newValue }
    }

    func definitions(of property: String) -> [ArgumentDefinition] {
        [content.definition(.positional, names: [], property: property, help: help)]
    }

    /// Never called. For `@Argument var x: Int` the compiler wants to see an initializer without parameters here; it then
    /// takes the fitting one of the extensions.
    @available(*, unavailable, message: "the type of the value must be ExpressibleByArgument")
    package init() { preconditionFailure("unavailable") }

    private init(_ content: ArgumentValue<Value>, _ help: ArgumentHelp?) {
        self.content = content
        self.help = help ?? ""
    }
}

extension Argument where Value: ExpressibleByArgument {
    package init(wrappedValue: Value, help: ArgumentHelp? = nil) {
        self.init(ArgumentValue(default: wrappedValue), help)
    }

    package init(help: ArgumentHelp? = nil) { self.init(ArgumentValue(default: nil), help) }
}

extension Argument {
    package init<Element: ExpressibleByArgument>(help: ArgumentHelp? = nil) where Value == Element? {
        self.init(ArgumentValue(optional: Element.self), help)
    }

    package init<Element: ExpressibleByArgument>(
        wrappedValue: _OptionalNilComparisonType, help: ArgumentHelp? = nil
    ) where Value == Element? {
        self.init(ArgumentValue(optional: Element.self), help)
    }

    package init<Element: ExpressibleByArgument>(
        wrappedValue: [Element], help: ArgumentHelp? = nil
    ) where Value == [Element] {
        self.init(ArgumentValue(array: wrappedValue), help)
    }

    package init<Element: ExpressibleByArgument>(help: ArgumentHelp? = nil) where Value == [Element] {
        self.init(ArgumentValue(array: nil), help)
    }
}
