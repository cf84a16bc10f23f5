// Stand-in for swift-argument-parser 1.6 (https://github.com/apple/swift-argument-parser): the same module name and call
// sites, of which only those that this project uses exist. Taking the package instead is a line in the manifest and one
// folder less. Different on purpose: bad usage exits with 2, and is answered by one line (ExitCode, CommandError).

/// A type whose `@Argument`, `@Option`, `@Flag` and `@OptionGroup` properties come from the command line.
package protocol ParsableArguments: SendableMetatype {
    /// With the defaults; values are filled in afterwards.
    init()

    /// Checks what single values cannot show. Throw a `ValidationError` that names the option and the remedy.
    mutating func validate() throws
}

extension ParsableArguments {
    package mutating func validate() throws {}
}

/// A command, or a group of them.
package protocol ParsableCommand: ParsableArguments {
    static var configuration: CommandConfiguration { get }

    /// Without one of its own, a command prints its help.
    mutating func run() throws
}

extension ParsableCommand {
    package static var configuration: CommandConfiguration { CommandConfiguration() }

    package mutating func run() throws { throw CleanExit.helpRequest(Self.self) }

    /// What the command is called: as configured, else after its type (`ImportFile` is `import-file`).
    static var name: String { configuration.commandName ?? "\(Self.self)".kebabCased }
}

/// A command that waits.
package protocol AsyncParsableCommand: ParsableCommand {
    mutating func run() async throws
}

/// What a command is called and what its help says.
package struct CommandConfiguration: Sendable {
    package var commandName: String?
    /// One line.
    package var abstract: String
    /// Shown below the abstract as it stands: the place for an example.
    package var discussion: String
    /// Printed for `--version`, which only exists when this is not empty.
    package var version: String
    package var subcommands: [any ParsableCommand.Type]

    package init(
        commandName: String? = nil, abstract: String = "", discussion: String = "", version: String = "",
        subcommands: [any ParsableCommand.Type] = []
    ) {
        self.commandName = commandName
        self.abstract = abstract
        self.discussion = discussion
        self.version = version
        self.subcommands = subcommands
    }
}
