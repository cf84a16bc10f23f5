/// Finds the command that a command line names.
struct CommandParser {
    private var path: [any ParsableCommand.Type]

    init(root: any ParsableCommand.Type) { path = [root] }

    private var command: any ParsableCommand.Type { path[path.count - 1] }

    /// - Throws: `CommandError`, `CleanExit`, or what `validate()` throws.
    mutating func parse(_ arguments: [String]) throws -> any ParsableCommand {
        var rest = arguments[...]
        while !command.configuration.subcommands.isEmpty, let word = rest.first {
            if Self.asksForHelp(word) { throw CleanExit.helpRequest(command) }
            if word == "--version" { try exitWithVersion() }
            guard !word.hasPrefix("-") else {
                throw error("Unknown option '\(word)' before a subcommand; options follow their command.")
            }
            rest = rest.dropFirst()
            if word == "help" {
                try descend(rest)
                throw CleanExit.helpRequest(command)
            }
            path.append(try subcommand(word))
        }
        return try fill(command.init(), from: rest)
    }

    static func asksForHelp(_ word: String) -> Bool { word == "--help" || word == "-h" }

    /// The command that `help app create` is about.
    private mutating func descend(_ words: ArraySlice<String>) throws {
        for word in words { path.append(try subcommand(word)) }
    }

    private func subcommand(_ word: String) throws -> any ParsableCommand.Type {
        let subcommands = command.configuration.subcommands
        if let found = subcommands.first(where: { $0.name == word }) { return found }
        throw error("Unknown subcommand '\(word)'." + didYouMean(word, among: subcommands.map { $0.name }))
    }

    private func exitWithVersion() throws {
        let version = path.reversed().map { $0.configuration.version }.first { !$0.isEmpty }
        if let version { throw CleanExit.message(version) }
    }

    private func fill(_ empty: some ParsableCommand, from words: ArraySlice<String>) throws -> any ParsableCommand {
        var command = empty
        var reader = ArgumentReader(command.definitions)
        do {
            try reader.read(words)
        } catch ArgumentReader.Stop.help {
            throw CleanExit.helpRequest(self.command)
        } catch ArgumentReader.Stop.version {
            try exitWithVersion()
            throw error("Unknown option '--version'.")
        } catch ArgumentReader.Stop.wrong(let message) {
            throw error(message)
        }
        try command.validateAll()
        return command
    }

    private func error(_ message: String) -> CommandError { CommandError(path: path, message: message) }
}
