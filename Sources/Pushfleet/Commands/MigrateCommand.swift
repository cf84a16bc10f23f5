import ArgumentParser
import Logging
import Schema

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Brings the database's schema to the level that this binary carries.",
        discussion: """
            Several processes may migrate at once. Old and new binaries run side by side as long as a migration's lowest
            binary level allows it.

            EXAMPLE
              pushfleet migrate status
              pushfleet migrate up
            """,
        subcommands: [MigrateUp.self, MigrateDown.self, MigrateStatus.self, MigrateVerify.self])
}

struct MigrateUp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up", abstract: "Applies the migrations that are missing.",
        discussion: "EXAMPLE\n  pushfleet migrate up")
    @OptionGroup var database: DatabaseOptions
    @Option(help: "Stop after this migration's number.") var to: Int?

    func validate() throws { if let to { try requireKnown(to, from: Migrations.all.first?.number ?? 1) } }

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let applied = try await Migrator(client: client, logger: Logger(label: "pushfleet.schema")).up(to: to)
                for migration in applied { writeOutput("applied  \(migration.title)\n") }
                if applied.isEmpty { writeOutput("up to date\n") }
            }
        }
    }
}

struct MigrateDown: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "down", abstract: "Takes migrations back, and the data in what they made.",
        discussion: "EXAMPLE\n  pushfleet migrate down --to 3")
    @OptionGroup var database: DatabaseOptions
    @Option(help: "The last migration that stays; 0 takes all back.") var to: Int

    func validate() throws { try requireKnown(to, from: 0) }

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let undone = try await Migrator(client: client, logger: Logger(label: "pushfleet.schema")).down(to: to)
                for migration in undone { writeOutput("taken back  \(migration.title)\n") }
                if undone.isEmpty { writeOutput("nothing to take back\n") }
            }
        }
    }
}

/// - Throws: where the number lies beyond what this binary carries: a slip of the hand would take back everything.
private func requireKnown(_ number: Int, from first: Int) throws {
    let last = Migrations.all.last?.number ?? first
    guard (first...last).contains(number) else {
        throw ValidationError("to: \(number) is out of range; use \(first) to \(last)")
    }
}

struct MigrateStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Lists the migrations and which are applied.",
        discussion: """
            Of each that is pending: whether workers may run while it is applied, and the lowest binary level that may run
            afterwards.

            EXAMPLE
              pushfleet migrate status
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    private struct Line: Encodable {
        let migration, state: String
        let lowestBinary: Int
        let safeBesideWorkers: Bool?
    }

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let states = try await Migrator(client: client, logger: Logger(label: "pushfleet.schema")).status()
                guard !output.json else {
                    for state in states {
                        writeOutput(
                            try jsonLine(
                                Line(
                                    migration: state.title, state: state.state.rawValue,
                                    lowestBinary: state.lowestBinary,
                                    safeBesideWorkers: state.isSafeWithWorkers)))
                    }
                    return
                }
                var table = TextTable(["MIGRATION", "STATE", "LOWEST BINARY", "SAFE BESIDE WORKERS"], right: [2])
                for state in states {
                    let safe = state.isSafeWithWorkers.map { $0 ? "yes" : "no" } ?? "-"
                    table.add([state.title, "\(state.state)", "\(state.lowestBinary)", safe])
                }
                writeOutput(table.text)
                if states.contains(where: { $0.state == .pending }) { writeOutput("next: pushfleet migrate up\n") }
            }
        }
    }
}

struct MigrateVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Checks that the schema fits this binary and that no applied file was edited.",
        discussion:
            "What every role checks before it works. Exit status 4 if it does not fit.\n\nEXAMPLE\n  pushfleet migrate verify"
    )
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                try await SchemaCheck.require(client, logger: Logger(label: "pushfleet.schema"))
                writeOutput("the schema fits this binary\n")
            }
        }
    }
}
