import ArgumentParser
import Domain
import QueueStore

/// Which runs a control command means.
struct RunOptions: ParsableArguments {
    @Argument(help: "A run's number, or a campaign's name, which stands for all its open runs.") var run: String
    @Option(help: "The campaign's app, where several have one of that name.") var app: String?

    /// - Parameter done: whether the store did it to that run.
    func each(_ store: ControlStore, _ refusal: String, _ done: (Run.ID) async throws -> Bool) async throws {
        let runs = try await store.runs(named: run, app: app)
        var count = 0
        for run in runs where try await done(run) { count += 1 }
        guard count > 0 else { throw CommandFailure("run: \(run) \(refusal); see: pushfleet campaign list") }
    }
}

struct CampaignPause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Stops a run within a second, until it is resumed.",
        discussion: "EXAMPLE\n  pushfleet campaign pause 12\n  pushfleet campaign pause \"Winter timetable\"")
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var chosen: RunOptions

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let store = ControlStore(client)
                try await chosen.each(store, "is not running") { run in
                    guard try await store.pause(run) else { return false }
                    writeOutput("run \(run) is paused; no request begins later than a second from now\n")
                    writeOutput("next: pushfleet campaign resume \(run)\n")
                    return true
                }
            }
        }
    }
}

struct CampaignResume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Goes on with a paused run.",
        discussion: "EXAMPLE\n  pushfleet campaign resume 12")
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var chosen: RunOptions

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let store = ControlStore(client)
                try await chosen.each(store, "is not paused") { run in
                    guard try await store.resume(run) else { return false }
                    writeOutput("run \(run) goes on\n")
                    return true
                }
            }
        }
    }
}

struct CampaignCancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Ends a run, or by its name a campaign, for good, within a second.",
        discussion: """
            The answer says how many were delivered, how many are in flight at most, and how many were stopped; exact
            figures stand when the run is settled. By its number one run ends, of a recurring campaign one occurrence; by
            its name the campaign ends, and no further occurrence begins.

            EXAMPLE
              pushfleet campaign cancel 12
              pushfleet campaign cancel "Monday timetable"
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var chosen: RunOptions

    private struct EndedCampaign: Encodable {
        let campaign: Int64
        let isOver = true
    }

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let (ended, runs) = try await ControlStore(client).cancel(named: chosen.run, app: chosen.app)
                for campaign in ended {
                    writeOutput(
                        output.json
                            ? try jsonLine(EndedCampaign(campaign: campaign.rawValue))
                            : "campaign \(campaign) is over: no further run of it begins\n")
                }
                for answer in runs { writeOutput(output.json ? try jsonLine(answer) : text(answer)) }
                guard !ended.isEmpty || !runs.isEmpty else {
                    throw CommandFailure("run: \(chosen.run) is over or unknown; see: pushfleet campaign list")
                }
            }
        }
    }

    private func text(_ answer: CancelAnswer) -> String {
        """
        run \(answer.run) is cancelled: \(grouped(answer.delivered)) delivered, \
        at most \(grouped(answer.inFlightAtMost)) in flight, at least \(grouped(answer.stoppedAtLeast)) stopped
        next: pushfleet report run \(answer.run)

        """
    }
}
