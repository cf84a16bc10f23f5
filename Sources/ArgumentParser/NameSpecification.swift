/// The names of an option or flag.
package struct NameSpecification: ExpressibleByArrayLiteral, Sendable {
    package struct Element: Sendable {
        fileprivate enum Source { case long, short, customLong(String), customShort(Character) }

        fileprivate let source: Source

        /// After the property: `--max-connections`.
        package static let long = Element(source: .long)
        /// The property's first letter: `-m`.
        package static let short = Element(source: .short)
        /// Without the dashes.
        package static func customLong(_ name: String) -> Element { Element(source: .customLong(name)) }
        package static func customShort(_ letter: Character) -> Element { Element(source: .customShort(letter)) }
    }

    private let elements: [Element]

    package init(arrayLiteral elements: Element...) { self.elements = elements }

    package static let long: NameSpecification = [.long]
    package static let short: NameSpecification = [.short]
    package static let shortAndLong: NameSpecification = [.short, .long]
    package static func customLong(_ name: String) -> NameSpecification { [.customLong(name)] }
    package static func customShort(_ letter: Character) -> NameSpecification { [.customShort(letter)] }

    /// With their dashes.
    func names(of property: String) -> [String] {
        elements.map { element in
            switch element.source {
            case .long: "--" + property.kebabCased
            case .short: "-" + property.prefix(1).lowercased()
            case .customLong(let name): "--" + name
            case .customShort(let letter): "-" + String(letter)
            }
        }
    }
}

extension String {
    /// `maxConnections` as `max-connections`, `appID` as `app-id`, `HTTPPort` as `http-port`.
    var kebabCased: String {
        let characters = Array(self)
        var result = ""
        for (index, character) in characters.enumerated() {
            if character.isUppercase, index > 0 {
                let startsWord = !characters[index - 1].isUppercase
                let endsAbbreviation = index + 1 < characters.count && characters[index + 1].isLowercase
                if startsWord || endsAbbreviation { result += "-" }
            }
            result += character.lowercased()
        }
        return result
    }
}
