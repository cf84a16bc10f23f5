/// Gives the words of a command line to the arguments of one command.
struct ArgumentReader {
    enum Stop: Error {
        case help, version
        case wrong(String)
    }

    private let definitions: [ArgumentDefinition]
    private var positionals: [String] = []

    init(_ definitions: [ArgumentDefinition]) { self.definitions = definitions }

    mutating func read(_ words: ArraySlice<String>) throws(Stop) {
        var rest = words
        while let word = rest.popFirst() {
            if word == "--" {
                positionals += rest
                break
            }
            if isName(word) { try readNamed(word, &rest) } else { positionals.append(word) }
        }
        try placePositionals()
        for definition in definitions where definition.isRequired && !definition.wasGiven() {
            let kind = definition.kind == .positional ? "argument" : "option"
            throw .wrong("Missing \(kind) '\(definition.synopsis)'.")
        }
    }

    /// A single dash is a value (standard input), and so is a negative number, unless an option is called so.
    private func isName(_ word: String) -> Bool {
        guard word.hasPrefix("-"), word != "-" else { return false }
        return Double(word) == nil || definition(named: word) != nil
    }

    private func definition(named name: String) -> ArgumentDefinition? {
        definitions.first { $0.names.contains(name) }
    }

    private func readNamed(_ word: String, _ rest: inout ArraySlice<String>) throws(Stop) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
        guard let definition = definition(named: parts[0]) else {
            if CommandParser.asksForHelp(word) { throw .help }
            if word == "--version" { throw .version }
            let names = definitions.flatMap(\.names) + ["--help"]
            throw .wrong("Unknown option '\(parts[0])'." + didYouMean(parts[0], among: names))
        }
        let attached = parts.count > 1 ? parts[1] : nil
        if definition.kind == .flag {
            guard attached == nil else { throw .wrong("'\(parts[0])' takes no value.") }
            _ = definition.accept("")
            return
        }
        guard let value = attached ?? takeValue(&rest) else {
            throw .wrong("Missing value for '\(definition.synopsis)': \(definition.expectation) is wanted.")
        }
        try give(value, to: definition)
    }

    /// The next word, unless it is an option's name: that is a forgotten value rather than one with dashes.
    private func takeValue(_ rest: inout ArraySlice<String>) -> String? {
        guard let word = rest.first, !isName(word), word != "--" else { return nil }
        rest = rest.dropFirst()
        return word
    }

    private func give(_ value: String, to definition: ArgumentDefinition) throws(Stop) {
        guard definition.accept(value) else {
            let wanted = "\(definition.expectation) is wanted"
            throw .wrong("The value '\(value)' is not valid for '\(definition.synopsis)': \(wanted).")
        }
    }

    private func placePositionals() throws(Stop) {
        var rest = positionals[...]
        for definition in definitions where definition.kind == .positional {
            repeat {
                guard let value = rest.popFirst() else { break }
                try give(value, to: definition)
            } while definition.isRepeating
        }
        if let extra = rest.first { throw .wrong("Unexpected argument '\(extra)'.") }
    }
}
