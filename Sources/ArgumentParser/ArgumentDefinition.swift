/// What help says about an argument. A literal is the text.
package struct ArgumentHelp: ExpressibleByStringInterpolation, Sendable {
    package let abstract: String
    /// Stands for the value in help, `--ttl <seconds>`; the argument's own name if nil.
    package let valueName: String?

    package init(_ abstract: String = "", valueName: String? = nil) {
        self.abstract = abstract
        self.valueName = valueName
    }

    package init(stringLiteral value: String) { self.init(value) }
}

/// One argument of a command as its parser and its help see it.
struct ArgumentDefinition {
    enum Kind { case option, flag, positional }

    let kind: Kind
    /// With dashes, none for a positional one.
    let names: [String]
    let valueName: String
    let help: ArgumentHelp
    let isRequired: Bool
    let isRepeating: Bool
    let allValues: [String]
    let defaultDescription: String?
    let expectation: String
    /// Stores a value; false if the word stands for none. A flag gets an empty word.
    let accept: (String) -> Bool
    let wasGiven: () -> Bool

    /// `--limit <limit>`, `--json`, `<file>`.
    var synopsis: String {
        let name = names.first { $0.hasPrefix("--") } ?? names.first
        return switch kind {
        case .option: "\(name ?? "") <\(valueName)>"
        case .flag: name ?? ""
        case .positional: "<\(valueName)>"
        }
    }
}

/// A property of a command that defines arguments.
protocol ArgumentSource {
    /// - Parameter property: the property's name.
    func definitions(of property: String) -> [ArgumentDefinition]
}

extension ParsableArguments {
    /// In the order of the properties.
    var definitions: [ArgumentDefinition] {
        Mirror(reflecting: self).children.flatMap { child in
            // The wrapper of `limit` is stored as `_limit`.
            (child.value as? any ArgumentSource)?.definitions(of: String(child.label?.dropFirst() ?? "")) ?? []
        }
    }
}
