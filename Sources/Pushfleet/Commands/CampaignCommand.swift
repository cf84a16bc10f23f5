import ArgumentParser
import Domain
import QueueStore

struct CampaignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "campaign", abstract: "Campaigns: what to send to which audience and when.",
        discussion: """
            EXAMPLE
              pushfleet campaign validate winter.json
              pushfleet campaign preview winter.json --language pt-BR
              pushfleet campaign create winter.json --watch
              pushfleet campaign cancel 12
            """,
        subcommands: [
            CampaignValidate.self, CampaignPreview.self, CampaignCheck.self, CampaignCreate.self, CampaignList.self,
            CampaignWatch.self, CampaignPause.self, CampaignResume.self, CampaignCancel.self, CampaignSetRate.self,
            CampaignPlan.self, CampaignEdit.self, CampaignTest.self,
        ])
}

struct CampaignCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Creates and schedules a campaign from a file.",
        discussion: """
            The same idempotencyKey and file give the same campaign; another file under that key is refused.

            EXAMPLE
              pushfleet campaign create winter.json --watch
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The campaign file.") var file: String
    @Flag(help: "Stay and show progress until its run is done.") var watch = false
    @Flag(help: "Check it as creating does, against the database, and create nothing.") var dryRun = false

    func run() async throws {
        try await reportingFailures {
            let reading = try CampaignReading(file)
            try await database.withClient { client in
                let store = AdminStore(client)
                var completed = reading
                try await completed.complete(from: store)
                try completed.requireFit()
                let created = try await store.createCampaign(reading.campaign, body: reading.body, dryRun: dryRun)
                if dryRun { return report(created, completed) }
                if output.json {
                    writeOutput(try jsonLine(created))
                } else {
                    let verb = created.isNew ? "created" : "known"
                    let next = created.nextAt.map { "next occurrence \($0)" } ?? "run \(created.run)"
                    writeOutput("campaign \(created.campaign) \(verb), \(next)\n")
                }
                if created.run == 0 { return }
                if watch {
                    try await RunWatch(client: client, json: output.json).follow(Run.ID(created.run))
                } else if !output.json {
                    writeOutput("next: pushfleet campaign watch \(created.run)\n")
                }
            }
        }
    }

    private func report(_ created: CreatedCampaign, _ reading: CampaignReading) {
        if output.json { return writeOutput("{\"dry_run\":true}\n") }
        guard created.isNew else {
            return writeOutput("campaign \(created.campaign) is this one already; nothing was created\n")
        }
        writeOutput("campaign '\(reading.campaign.name)' could be created; nothing was\n")
        writeOutput("next: pushfleet campaign check \(file) asks the provider too, pushfleet campaign create \(file)\n")
    }
}

struct CampaignList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists campaigns and their runs, newest first.",
        discussion: "EXAMPLE\n  pushfleet campaign list --app ferry")
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "Only this app's.") var app: String?
    @Option(help: "At most this many.") var limit = 50
    @Flag(help: "With test sends.") var tests = false

    func validate() throws {
        guard (1...100_000).contains(limit) else {
            throw ValidationError("limit: \(limit) is out of range; use 1 to 100000")
        }
    }

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let runs = try await AdminStore(client).runs(app: app, limit: Int32(limit), tests: tests)
                if output.json {
                    for run in runs { writeOutput(try jsonLine(run)) }
                    return
                }
                var table = TextTable(["RUN", "CAMPAIGN", "APP", "NAME", "STATUS", "DUE"], right: [0, 1])
                for run in runs {
                    let name = run.isTest ? "\(run.name) (test)" : run.name
                    table.add(["\(run.run)", "\(run.campaign)", run.app, name, run.status, run.dueAt])
                }
                writeOutput(table.text)
            }
        }
    }
}

struct CampaignWatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Shows a run's progress until it is done.",
        discussion: "EXAMPLE\n  pushfleet campaign watch 12")
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The run.") var run: Int

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                try await RunWatch(client: client, json: output.json).follow(Run.ID(Int64(run)))
            }
        }
    }
}
