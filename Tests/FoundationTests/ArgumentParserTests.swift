import Testing

@testable import ArgumentParser

private enum Lane: String, ExpressibleByArgument, CaseIterable { case transactional, campaign }

private struct Shared: ParsableArguments {
    @Flag(help: "Answer in JSON.") var json = false
    @Option(help: "The database.") var databaseURL: String?

    func validate() throws {
        if databaseURL == "nowhere" { throw ValidationError("'--database-url' names no database.") }
    }
}

private struct Send: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sends a file.", discussion: "Example:\n  fleet campaign send a.json --limit 5")

    @Argument(help: "The campaign.") var file: String
    @Argument(help: "More of them.") var others: [String] = []
    @Option(name: [.short, .long], help: "How many at most.") var limit = 10
    @Option(help: ArgumentHelp("A rate.", valueName: "per second")) var rate: Double?
    @Option var lane = Lane.campaign
    @Option(name: .customLong("tag")) var tags: [String] = []
    @Option var strict: Bool?
    @Option var size: Int64 = 0
    @Flag(name: .shortAndLong) var verbose = false
    @OptionGroup var shared: Shared

    func validate() throws {
        if limit < 0 { throw ValidationError("'--limit' must be 0 or more.") }
    }
}

private struct Wait: AsyncParsableCommand {
    @Option var seconds: Int
    @Option var names: [String]
    @Argument var lane: Lane?
    func run() async throws {}
}

private struct Campaign: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Campaigns.", subcommands: [Send.self, Wait.self])
}

private struct Fleet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sends.", version: "1.2", subcommands: [Campaign.self])
}

@Suite struct ArgumentParserTests {
    private func send(_ words: String...) throws -> Send {
        try #require(try Fleet.parseAsRoot(["campaign", "send"] + words) as? Send)
    }

    @Test func `what is not given has its default`() throws {
        let send = try send("a.json")
        #expect(send.file == "a.json" && send.others == [] && send.limit == 10 && send.rate == nil)
        #expect(send.lane == .campaign && send.tags == [] && send.strict == nil && !send.verbose)
        #expect(!send.shared.json && send.shared.databaseURL == nil)
    }

    @Test func `values come in every spelling and order`() throws {
        let send = try send(
            "--limit", "5", "a.json", "--rate=2.5", "-v", "--tag", "x", "b.json", "--tag=y=z", "--lane",
            "transactional",
            "--strict", "false", "--size", "-9000000000", "--json", "--database-url", "postgresql://", "--", "--c")
        #expect(send.file == "a.json" && send.others == ["b.json", "--c"] && send.limit == 5 && send.rate == 2.5)
        #expect(send.lane == .transactional && send.tags == ["x", "y=z"] && send.strict == false && send.verbose)
        #expect(send.size == -9_000_000_000 && send.shared.json && send.shared.databaseURL == "postgresql://")
    }

    @Test func `of two values the last counts, and a short name is as good as a long one`() throws {
        #expect(try send("a", "--limit", "5", "-l", "6").limit == 6)
        #expect(try send("a", "-l=7").limit == 7)
        #expect(try send("-").file == "-")
        #expect(try send("a", "--database-url=").shared.databaseURL == "")
    }

    @Test func `two commands parsed one after another do not share values`() throws {
        let first = try send("a", "--tag", "x")
        #expect(try send("b").tags == [])
        #expect(first.tags == ["x"])
    }

    @Test(arguments: [
        ("campaign send", "Missing argument '<file>'. See 'fleet campaign send --help'."),
        ("campaign send a --limti 5", "Unknown option '--limti'. Did you mean '--limit'?"),
        ("campaign send a --nothing-like-it=5", "Unknown option '--nothing-like-it'. See"),
        ("campaign send a --limit", "Missing value for '--limit <limit>': a whole number is wanted."),
        ("campaign send a --limit --verbose", "Missing value for '--limit <limit>'"),
        (
            "campaign send a --limit five",
            "The value 'five' is not valid for '--limit <limit>': a whole number is wanted."
        ),
        ("campaign send a --lane fast", "is not valid for '--lane <lane>': one of transactional, campaign is wanted."),
        ("campaign send a --verbose=yes", "'--verbose' takes no value."),
        ("campaign wait", "Missing option '--seconds <seconds>'."),
        ("campaign wait --seconds 1", "Missing option '--names <names>'."),
        ("campaign wait --seconds 1 --names a campaign b", "Unexpected argument 'b'."),
        ("campaign sned", "Unknown subcommand 'sned'. Did you mean 'send'? See 'fleet campaign --help'."),
        ("--json campaign send a", "Unknown option '--json' before a subcommand; options follow their command."),
        ("campaign send a --limit=-1", "'--limit' must be 0 or more."),
        ("campaign send a --database-url nowhere", "'--database-url' names no database."),
    ])
    func `bad usage exits with 2 and one line that names the option`(line: String, expected: String) throws {
        let error = try #require(throws: (any Error).self) {
            try Fleet.parseAsRoot(line.split(separator: " ").map(String.init))
        }
        let message = Fleet.message(for: error)
        #expect(message.contains(expected))
        #expect(message.hasPrefix("Error: ") && message.last == "\n" && message.dropLast().contains("\n") == false)
        #expect(Fleet.exitCode(for: error) == ExitCode(2))
    }

    @Test(arguments: [
        ("--help", "OVERVIEW: Sends."), ("help", "OVERVIEW: Sends."), ("campaign -h", "OVERVIEW: Campaigns."),
        ("campaign send --help", "OVERVIEW: Sends a file."),
        ("campaign send a --limit 5 -h", "OVERVIEW: Sends a file."),
        ("help campaign send", "OVERVIEW: Sends a file."), ("campaign help send", "OVERVIEW: Sends a file."),
        ("campaign send --version", "1.2\n"), ("--version", "1.2\n"),
    ])
    func `help and version are no failure, on any level`(line: String, expected: String) throws {
        let error = try #require(throws: CleanExit.self) {
            try Fleet.parseAsRoot(line.split(separator: " ").map(String.init))
        }
        #expect(Fleet.message(for: error).hasPrefix(expected))
        #expect(Fleet.exitCode(for: error) == .success)
    }

    @Test(arguments: ["", "campaign"]) func `a command that only groups others prints its help`(line: String) throws {
        var command = try Fleet.parseAsRoot(line.split(separator: " ").map(String.init))
        #expect(throws: CleanExit.self) { try command.run() }
    }

    @Test func `help of a command shows usage, arguments and options with their defaults`() {
        let expected = """
            OVERVIEW: Sends a file.

            Example:
              fleet campaign send a.json --limit 5

            USAGE: fleet campaign send <file> [<others> ...] [--limit <limit>] [--rate <per second>] [--lane <lane>] \
            [--tag <tags> ...] [--strict <strict>] [--size <size>] [--verbose] [--json] [--database-url <database-url>]

            ARGUMENTS:
              <file>                  The campaign.
              <others>                More of them.

            OPTIONS:
              -l, --limit <limit>     How many at most. (default: 10)
              --rate <per second>     A rate.
              --lane <lane>           (values: transactional, campaign; default: campaign)
              --tag <tags>
              --strict <strict>       (values: true, false)
              --size <size>           (default: 0)
              -v, --verbose
              --json                  Answer in JSON.
              --database-url <database-url>
                                      The database.
              --version               Show the version.
              -h, --help              Show help information.

            """
        #expect(Fleet.helpMessage(for: Send.self) == expected)
    }

    @Test func `help of a group shows its subcommands`() {
        let expected = """
            OVERVIEW: Campaigns.

            USAGE: fleet campaign <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              send                    Sends a file.
              wait

              See 'fleet campaign <subcommand> --help' for detailed help.

            """
        #expect(Fleet.helpMessage(for: Campaign.self) == expected)
    }

    @Test func `a fault while running exits with 1, an exit code as it says`() {
        struct Fault: Error {}
        #expect(Fleet.exitCode(for: Fault()) == .failure)
        #expect(Fleet.exitCode(for: ExitCode(3)) == ExitCode(3))
        #expect(Fleet.message(for: ExitCode(3)) == "")
    }

    @Test func `a process says what is wrong on standard error and exits with 2`() async throws {
        let result = try await #require(
            processExitsWith: .exitCode(2), observing: [\.standardErrorContent, \.standardOutputContent]
        ) { await Fleet.main(["campaign", "wait"]) }
        let expected = "Error: Missing option '--seconds <seconds>'. See 'fleet campaign wait --help'.\n"
        #expect(String(decoding: result.standardErrorContent, as: UTF8.self).hasSuffix(expected))
        #expect(!String(decoding: result.standardOutputContent, as: UTF8.self).contains("Error"))
    }

    @Test func `a process prints help on standard output and exits with 0`() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            await Fleet.main(["--help"])
        }
        #expect(String(decoding: result.standardOutputContent, as: UTF8.self).contains("OVERVIEW: Sends.\n\nUSAGE"))
    }

    @Test(arguments: [
        ("maxConnections", "max-connections"), ("appID", "app-id"), ("HTTPPort", "http-port"), ("json", "json"),
        ("ImportFile", "import-file"), ("inDoubt", "in-doubt"), ("sha256Sum", "sha256-sum"),
    ])
    func `names are spelled with dashes`(property: String, expected: String) {
        #expect(property.kebabCased == expected)
    }
}
