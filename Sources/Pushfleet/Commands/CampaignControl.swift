import ArgumentParser
import Domain
import QueueStore

struct CampaignPause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Stops a run within a second, until it is resumed.",
        discussion: "EXAMPLE\n  pushfleet campaign pause 12")
    @OptionGroup var database: DatabaseOptions
    @Argument(help: "The run.") var run: Int

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                guard try await ControlStore(client).pause(Run.ID(Int64(run))) else {
                    throw CommandFailure("run: \(run) is not running; see: pushfleet campaign list")
                }
                writeOutput("run \(run) is paused; no request begins later than a second from now\n")
                writeOutput("next: pushfleet campaign resume \(run)\n")
            }
        }
    }
}

struct CampaignResume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Goes on with a paused run.",
        discussion: "EXAMPLE\n  pushfleet campaign resume 12")
    @OptionGroup var database: DatabaseOptions
    @Argument(help: "The run.") var run: Int

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                guard try await ControlStore(client).resume(Run.ID(Int64(run))) else {
                    throw CommandFailure("run: \(run) is not paused; see: pushfleet campaign list")
                }
                writeOutput("run \(run) goes on\n")
            }
        }
    }
}

struct CampaignCancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Ends a run for good, within a second.",
        discussion: """
            The answer says how many were delivered, how many are in flight at most, and how many were stopped; exact
            figures stand when the run is settled.

            EXAMPLE
              pushfleet campaign cancel 12
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The run.") var run: Int

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                guard let answer = try await ControlStore(client).cancel(Run.ID(Int64(run))) else {
                    throw CommandFailure("run: \(run) is over or unknown; see: pushfleet campaign list")
                }
                if output.json { return writeOutput(try jsonLine(answer)) }
                writeOutput("run \(run) is cancelled: \(grouped(answer.delivered)) delivered, ")
                writeOutput("at most \(grouped(answer.inFlightAtMost)) in flight, ")
                writeOutput("at least \(grouped(answer.stoppedAtLeast)) stopped\n")
                writeOutput("next: pushfleet report run \(run)\n")
            }
        }
    }
}
