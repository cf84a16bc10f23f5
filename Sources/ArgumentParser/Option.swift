/// A named value: `--limit 5` or `--limit=5`. Of one that is given twice the last counts, unless it is an array.
@propertyWrapper package struct Option<Value: Sendable>: ArgumentSource, Sendable {
    private let content: ArgumentValue<Value>
    private let name: NameSpecification
    private let help: ArgumentHelp

    package var wrappedValue: Value {
        get { content.value }
        nonmutating set { content.value = newValue }
    }

    func definitions(of property: String) -> [ArgumentDefinition] {
        [content.definition(.option, names: name.names(of: property), property: property, help: help)]
    }

    /// Never called. For `@Option var x: Int` the compiler wants to see an initializer without parameters here; it then
    /// takes the fitting one of the extensions.
    @available(*, unavailable, message: "the type of the value must be ExpressibleByArgument")
    package init() { preconditionFailure("unavailable") }

    private init(_ content: ArgumentValue<Value>, _ name: NameSpecification, _ help: ArgumentHelp?) {
        self.content = content
        self.name = name
        self.help = help ?? ""
    }
}

extension Option where Value: ExpressibleByArgument {
    package init(wrappedValue: Value, name: NameSpecification = .long, help: ArgumentHelp? = nil) {
        self.init(ArgumentValue(default: wrappedValue), name, help)
    }

    package init(name: NameSpecification = .long, help: ArgumentHelp? = nil) {
        self.init(ArgumentValue(default: nil), name, help)
    }
}

extension Option {
    package init<Element: ExpressibleByArgument>(
        name: NameSpecification = .long, help: ArgumentHelp? = nil
    ) where Value == Element? {
        self.init(ArgumentValue(optional: Element.self), name, help)
    }

    package init<Element: ExpressibleByArgument>(
        wrappedValue: _OptionalNilComparisonType, name: NameSpecification = .long, help: ArgumentHelp? = nil
    ) where Value == Element? {
        self.init(ArgumentValue(optional: Element.self), name, help)
    }

    package init<Element: ExpressibleByArgument>(
        wrappedValue: [Element], name: NameSpecification = .long, help: ArgumentHelp? = nil
    ) where Value == [Element] {
        self.init(ArgumentValue(array: wrappedValue), name, help)
    }

    package init<Element: ExpressibleByArgument>(
        name: NameSpecification = .long, help: ArgumentHelp? = nil
    ) where Value == [Element] {
        self.init(ArgumentValue(array: nil), name, help)
    }
}
