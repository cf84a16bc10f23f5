/// A name without a value: `--json`. False unless given.
@propertyWrapper package struct Flag: ArgumentSource, Sendable {
    private let content: ArgumentValue<Bool>
    private let name: NameSpecification
    private let help: ArgumentHelp

    package var wrappedValue: Bool {
        get { content.value }
        nonmutating set { content.value = newValue }
    }

    package init(wrappedValue: Bool, name: NameSpecification = .long, help: ArgumentHelp? = nil) {
        content = ArgumentValue(flag: wrappedValue)
        self.name = name
        self.help = help ?? ""
    }

    func definitions(of property: String) -> [ArgumentDefinition] {
        [content.definition(.flag, names: name.names(of: property), property: property, help: help)]
    }
}
