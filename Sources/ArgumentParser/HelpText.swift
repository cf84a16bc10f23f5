/// The help of one command.
struct HelpText {
    private static let width = 80
    private static let indent = 26

    /// From the root to the command.
    let path: [any ParsableCommand.Type]

    private var command: any ParsableCommand.Type { path[path.count - 1] }
    private var hasVersion: Bool { path.contains { !$0.configuration.version.isEmpty } }

    /// Ends with a line feed.
    func rendered() -> String {
        let configuration = command.configuration
        let definitions = command.init().definitions
        var sections: [String] = []
        if !configuration.abstract.isEmpty { sections.append("OVERVIEW: " + configuration.abstract) }
        if !configuration.discussion.isEmpty { sections.append(configuration.discussion) }
        sections.append("USAGE: " + usage(definitions))
        sections += section("ARGUMENTS", definitions.filter { $0.kind == .positional }.map(row))
        sections += section("OPTIONS", definitions.filter { $0.kind != .positional }.map(row) + ownRows)
        sections += section("SUBCOMMANDS", configuration.subcommands.map { ($0.name, $0.configuration.abstract) })
        if !configuration.subcommands.isEmpty {
            sections.append("  See '\(path.spelled) <subcommand> --help' for detailed help.")
        }
        return sections.joined(separator: "\n\n") + "\n"
    }

    private var ownRows: [(String, String)] {
        let version = hasVersion ? [("--version", "Show the version.")] : []
        return version + [("-h, --help", "Show help information.")]
    }

    private func usage(_ definitions: [ArgumentDefinition]) -> String {
        if !command.configuration.subcommands.isEmpty { return path.spelled + " <subcommand>" }
        let words = definitions.map { definition in
            let synopsis = definition.synopsis + (definition.isRepeating ? " ..." : "")
            return definition.isRequired ? synopsis : "[\(synopsis)]"
        }
        return ([path.spelled] + words).joined(separator: " ")
    }

    private func row(_ definition: ArgumentDefinition) -> (String, String) {
        let label =
            switch definition.kind {
            case .option: definition.names.joined(separator: ", ") + " <\(definition.valueName)>"
            case .flag: definition.names.joined(separator: ", ")
            case .positional: definition.synopsis
            }
        let values = definition.allValues.isEmpty ? [] : ["values: " + definition.allValues.joined(separator: ", ")]
        let notes = values + (definition.defaultDescription.map { ["default: \($0)"] } ?? [])
        let text = [definition.help.abstract, notes.isEmpty ? "" : "(\(notes.joined(separator: "; ")))"]
        return (label, text.filter { !$0.isEmpty }.joined(separator: " "))
    }

    private func section(_ title: String, _ rows: [(label: String, text: String)]) -> [String] {
        if rows.isEmpty { return [] }
        return ["\(title):\n" + rows.map { line($0.label, $0.text) }.joined(separator: "\n")]
    }

    private func line(_ label: String, _ text: String) -> String {
        let margin = String(repeating: " ", count: Self.indent)
        let wrapped = wrap(text).joined(separator: "\n" + margin)
        let head = "  " + label
        if wrapped.isEmpty { return head }
        if head.count + 2 > Self.indent { return head + "\n" + margin + wrapped }
        return head + margin.dropFirst(head.count) + wrapped
    }

    private func wrap(_ text: String) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= Self.width - Self.indent {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
