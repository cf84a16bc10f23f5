import ArgumentParser
import QueueStore

struct TokenWaves: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "waves", abstract: "Lists waves of answers against addresses that wait for a decision.",
        discussion: "EXAMPLE\n  pushfleet token waves --app ferry")
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "Only this app's.") var app: String?

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let waves = try await AdminStore(client).tokenWaves(app: app)
                if output.json { return writeOutput(try waves.map { try jsonLine($0) }.joined()) }
                for wave in waves { writeOutput(text(wave)) }
                if waves.isEmpty { writeOutput("no wave waits for a decision\n") }
            }
        }
    }

    private func text(_ wave: TokenWaveRecord) -> String {
        let options =
            "--app \(wave.app) --credential \(wave.credential) --from \(wave.window.from) --to \(wave.window.to)"
        let what = wave.evidence == "gone" ? "called their address dead" : "named another project or key"
        let runs = wave.pausedRuns.map { "\($0)" }.joined(separator: ", ")
        return """
            \(wave.app), \(wave.credential): \(grouped(wave.against)) of \(grouped(wave.answers)) answers \(what)
              \(wave.window.from) to \(wave.window.to); \(grouped(wave.held)) addresses held; runs paused: \(runs)
              they live:     pushfleet token restore \(options)
              they are dead: pushfleet token accept \(options)

            """
    }
}

/// Which answers a decision is about.
struct TokenWindowOptions: ParsableArguments {
    @Option(help: "The app.") var app: String
    @Option(help: "The credential that was answered.") var credential: String
    @Option(help: "From this instant on: 2026-12-24T09:00:00Z.") var from: String
    @Option(help: "Up to this instant.") var to: String

    func validate() throws {
        for (name, text) in [("from", from), ("to", to)] {
            guard text.wholeMatch(of: /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)/) != nil else {
                throw ValidationError("\(name): '\(text)' is no instant; use one such as 2026-12-24T09:00:00Z")
            }
        }
    }

    var window: TokenWindow { TokenWindow(from: from, to: to) }
}

struct TokenRestore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Takes back what answers of a window did to addresses.",
        discussion: """
            Each address gets the state that it had before, unless it changed or registered anew since. Open waves of the
            window are closed; runs that they paused stay paused until you resume them.

            EXAMPLE
              pushfleet token restore --app ferry --credential firebase --from 2026-12-24T09:00Z --to 2026-12-24T09:10Z
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var chosen: TokenWindowOptions

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let count = try await AdminStore(client).restoreTokens(
                    app: chosen.app, credential: chosen.credential, in: chosen.window)
                writeOutput("\(grouped(count)) addresses are as they were before\n")
            }
        }
    }
}

struct TokenAccept: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Retires what a wave holds: those addresses are dead.",
        discussion: """
            EXAMPLE
              pushfleet token accept --app ferry --credential firebase --from 2026-12-24T09:00Z --to 2026-12-24T09:10Z
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var chosen: TokenWindowOptions

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let count = try await AdminStore(client).acceptTokens(
                    app: chosen.app, credential: chosen.credential, in: chosen.window)
                writeOutput("\(grouped(count)) addresses are retired\n")
            }
        }
    }
}
