/// How a command ends when it does not simply return.
package struct ExitCode: Error, Equatable, Sendable {
    package let rawValue: Int32

    package init(_ rawValue: Int32) { self.rawValue = rawValue }

    package static let success = ExitCode(0)
    package static let failure = ExitCode(1)
    /// Bad usage or bad input. Ours is 2; upstream has 64 (EX_USAGE).
    package static let validationFailure = ExitCode(2)
}

/// Input that cannot be used. The message names the option and the remedy.
package struct ValidationError: Error, Equatable, CustomStringConvertible {
    package let message: String

    package init(_ message: String) { self.message = message }

    package var description: String { message }
}

/// An end that is no failure: something is printed on standard output, and the status is 0.
package enum CleanExit: Error {
    /// The help of this command, of the root if nil.
    case helpRequest((any ParsableCommand.Type)?)
    case message(String)
}

/// What the command line has wrong, and where.
struct CommandError: Error {
    /// From the root to the command whose arguments are wrong.
    let path: [any ParsableCommand.Type]
    /// A sentence.
    let message: String

    /// One line that says what is wrong and where to read on.
    var description: String { "\(message) See '\(path.spelled) --help'." }
}

extension [any ParsableCommand.Type] {
    /// `pushfleet app create`
    var spelled: String { map { $0.name }.joined(separator: " ") }
}
