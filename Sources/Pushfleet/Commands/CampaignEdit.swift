import ArgumentParser
import Domain
import QueueStore

struct CampaignEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Replaces what a campaign says, and before it begins anything else.",
        discussion: """
            A run that sends must be paused first. Batches that were claimed before keep the content that they were bound
            to; report run says who got which revision. Audience, schedule, inDoubt, ttlSeconds and perUser change only before
            the expansion begins. A recurring campaign that is over goes on with a schedule that has an occurrence to come.

            EXAMPLE
              pushfleet campaign pause 12
              pushfleet campaign edit 7 winter.json
              pushfleet campaign resume 12
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The campaign (not the run).") var campaign: Int
    @Argument(help: "The campaign file, as it shall be.") var file: String

    func run() async throws {
        try await reportingFailures {
            var reading = try CampaignReading(file)
            let changed = reading.campaign
            try await database.withClient { client in
                try await reading.complete(from: AdminStore(client))
                try reading.requireFit()
                let edited = try await AdminStore(client).editCampaign(
                    Campaign.ID(Int64(campaign)), changed, body: reading.body)
                if output.json { return writeOutput(try jsonLine(edited)) }
                writeOutput("campaign \(campaign) says revision \(edited.revision) from now on\n")
                for run in edited.runs { writeOutput("next: pushfleet report run \(run)\n") }
            }
        }
    }
}

struct CampaignTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Sends a campaign's message to named subscribers, now.",
        discussion: """
            The run is marked as a test and left out of the reports. Schedule, throttle and holdout do not apply.

            EXAMPLE
              pushfleet campaign test winter.json --subscriber ana-phone,ben-phone --variant b
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The campaign file.") var file: String
    @Option(help: "A subscriber's external id; several with commas between.") var subscriber: String
    @Option(help: "The variant to send; else the first.") var variant: String?

    func run() async throws {
        try await reportingFailures {
            var reading = try CampaignReading(file)
            let campaign = reading.campaign
            var seen: Set<String> = []
            let subscribers = subscriber.split(separator: ",").map(String.init).filter { seen.insert($0).inserted }
            guard !subscribers.isEmpty else { throw CommandFailure("subscriber: name one at least") }
            try await database.withClient { client in
                try await reading.complete(from: AdminStore(client))
                try reading.requireFit()
                let created = try await AdminStore(client).testCampaign(
                    campaign, body: reading.body, subscribers: subscribers, variant: variant)
                if output.json { return writeOutput(try jsonLine(created)) }
                writeOutput("run \(created.run) is a test for \(subscribers.count)\n")
                writeOutput("next: pushfleet campaign watch \(created.run)\n")
            }
        }
    }
}
