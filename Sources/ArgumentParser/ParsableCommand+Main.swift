import Glibc
import Logging

extension ParsableCommand {
    /// Runs the command that the process was started with. Use as `@main`.
    package static func main() { main(Array(CommandLine.arguments.dropFirst())) }

    /// - Parameter arguments: without the program's name.
    package static func main(_ arguments: [String]) {
        do {
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch {
            exit(withError: error)
        }
    }

    /// The command, this one or one below it, that the arguments name, filled in and validated.
    package static func parseAsRoot(_ arguments: [String]) throws -> any ParsableCommand {
        var parser = CommandParser(root: Self.self)
        return try parser.parse(arguments)
    }

    /// Ends the process as the error says, with its message on standard error, or on standard output if it is no failure.
    package static func exit(withError error: any Error) -> Never {
        let code = exitCode(for: error)
        let stream = code == .success ? StandardStream.output : .error
        stream.write(message(for: error))
        Glibc.exit(code.rawValue)
    }

    package static func exitCode(for error: any Error) -> ExitCode {
        switch error {
        case let code as ExitCode: code
        case is CleanExit: .success
        case is CommandError, is ValidationError: .validationFailure
        default: .failure
        }
    }

    /// What is printed for the error, with its line feed; empty for an `ExitCode`, whose thrower has said it all.
    package static func message(for error: any Error) -> String {
        switch error {
        case is ExitCode: ""
        case CleanExit.message(let text): text + "\n"
        case CleanExit.helpRequest(let command): helpMessage(for: command ?? Self.self)
        case let error as CommandError: "Error: \(error.description)\n"
        default: "Error: \(error)\n"
        }
    }

    /// - Parameter command: this one or one below it.
    package static func helpMessage(for command: any ParsableCommand.Type) -> String {
        HelpText(path: path(to: command, from: [Self.self]) ?? [command]).rendered()
    }

    private static func path(
        to command: any ParsableCommand.Type, from path: [any ParsableCommand.Type]
    ) -> [any ParsableCommand.Type]? {
        guard let last = path.last, last != command else { return path }
        return last.configuration.subcommands.lazy.compactMap { Self.path(to: command, from: path + [$0]) }.first
    }
}

extension AsyncParsableCommand {
    /// Runs the command that the process was started with. Use as `@main`.
    package static func main() async { await main(Array(CommandLine.arguments.dropFirst())) }

    /// - Parameter arguments: without the program's name.
    package static func main(_ arguments: [String]) async {
        do {
            var command = try parseAsRoot(arguments)
            if var waiting = command as? any AsyncParsableCommand {
                try await waiting.run()
            } else {
                try command.run()
            }
        } catch {
            exit(withError: error)
        }
    }
}
