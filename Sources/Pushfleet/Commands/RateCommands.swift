import ArgumentParser
import Domain
import QueueStore

/// A rate, or none.
struct RateOptions: ParsableArguments {
    @Option(help: "Requests a second for the whole fleet, 1 to 1000000.") var perSecond: Int?
    @Flag(help: "No limit.") var none = false

    func validate() throws {
        guard (perSecond != nil) != none else {
            throw ValidationError("per-second: give --per-second N, or --none for no limit")
        }
        if let perSecond, !(1...1_000_000).contains(perSecond) {
            throw ValidationError("per-second: \(perSecond) is out of range; use 1 to 1000000")
        }
    }

    var rate: Int32? { perSecond.map { Int32($0) } }
    var text: String { perSecond.map { "at most \($0) a second" } ?? "without a limit" }
}

struct AppSetRate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-rate", abstract: "Limits what an app sends through all of its credentials together.",
        discussion: """
            It holds for the whole fleet from the next second on. Campaigns take at most nine tenths of it; the rest is
            kept for single notifications.

            EXAMPLE
              pushfleet app set-rate ferry --per-second 2000
              pushfleet app set-rate ferry --none
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var limit: RateOptions
    @Argument(help: "The app.") var name: String

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                try await AdminStore(client).setRate(ofApp: name, perSecond: limit.rate)
                writeOutput("app \(name) sends \(limit.text)\n")
            }
        }
    }
}

struct CredentialSetRate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-rate", abstract: "Limits what the fleet sends through each route of a credential.",
        discussion: """
            It holds from the next second on. Campaigns take at most nine tenths of it; the rest is kept for single
            notifications. Above 1,000 a second a route that was silent climbs to its rate within --ramp seconds.

            EXAMPLE
              pushfleet credential set-rate firebase --app ferry --per-second 9000
              pushfleet credential set-rate firebase --app ferry --none
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var limit: RateOptions
    @Argument(help: "Its name within the app.") var name: String
    @Option(help: "The app that it belongs to.") var app: String
    @Option(help: "Seconds from silence to the full rate; 0 = at once. Default: as it is, 60 at first.") var ramp: Int?

    func validate() throws {
        if let ramp, !(0...3600).contains(ramp) {
            throw ValidationError("ramp: \(ramp) is out of range; use 0 to 3600 seconds")
        }
    }

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                try await AdminStore(client).setRate(
                    ofCredential: name, app: app, perSecond: limit.rate, ramp: ramp.map { .seconds($0) })
                writeOutput("credential \(name) of \(app) sends \(limit.text)\n")
            }
        }
    }
}

struct CampaignSetRate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-rate", abstract: "Changes the throttle of a run that is not over.",
        discussion: """
            It holds for the whole fleet from the next second on.

            EXAMPLE
              pushfleet campaign set-rate 12 --per-second 500
              pushfleet campaign set-rate 12 --none
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var limit: RateOptions
    @Argument(help: "The run.") var run: Int

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                guard try await AdminStore(client).setRate(of: Run.ID(Int64(run)), perSecond: limit.rate) else {
                    throw CommandFailure("run: \(run) is over or unknown; see: pushfleet campaign list")
                }
                writeOutput("run \(run) sends \(limit.text)\n")
            }
        }
    }
}
