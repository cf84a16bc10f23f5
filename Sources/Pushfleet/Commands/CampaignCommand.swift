import ArgumentParser
import Domain
import FoundationEssentials
import Postgres
import QueueStore
import Transports

struct CampaignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "campaign", abstract: "Campaigns: what to send to which audience and when.",
        discussion: """
            EXAMPLE
              pushfleet campaign validate winter.json
              pushfleet campaign create winter.json --watch
              pushfleet campaign cancel 12
            """,
        subcommands: [
            CampaignValidate.self, CampaignCreate.self, CampaignList.self, CampaignWatch.self, CampaignPause.self,
            CampaignResume.self, CampaignCancel.self, CampaignPlan.self, CampaignEdit.self, CampaignTest.self,
        ])
}

/// Reads and checks a campaign file; every problem at once.
func readCampaign(_ path: String) throws -> (campaign: CampaignFile, body: String) {
    guard let data = FileManager.default.contents(atPath: path) else {
        throw CommandFailure("file: \(path) cannot be read; name a campaign file (JSON)")
    }
    let campaign = try CampaignFile.parse([UInt8](data), mode: .strict, meter: FCMMessageMeter())
    return (campaign, String(decoding: data, as: UTF8.self))
}

/// What each language of a campaign weighs, by the renderer that sends it.
func weigh(_ campaign: CampaignFile) -> [SizeReport] {
    guard case .inline(let message)? = campaign.message else { return [] }
    return FCMMessageMeter().sizes(of: message, delivery: campaign.delivery)
}

struct CampaignValidate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate", abstract: "Checks a campaign file as strictly as sending does, and weighs it.",
        discussion: "EXAMPLE\n  pushfleet campaign validate winter.json --json")
    @OptionGroup var output: OutputOptions
    @Argument(help: "The campaign file.") var file: String

    struct Report: Encodable {
        struct Fault: Encodable { let pointer, code, message, remedy: String }
        struct Size: Encodable {
            let transport, language: String
            let bytes, limit: Int
        }
        var valid: Bool
        var problems: [Fault]
        var sizes: [Size]
    }

    func run() async throws {
        try await reportingFailures {
            var report = Report(valid: true, problems: [], sizes: [])
            do {
                report.sizes = weigh(try readCampaign(file).campaign).map {
                    .init(
                        transport: $0.transport.name, language: $0.language ?? "-", bytes: $0.bytes, limit: $0.limit)
                }
            } catch let problems as ContentProblems {
                report.valid = false
                report.problems = problems.problems.map {
                    .init(pointer: $0.pointer, code: $0.code, message: $0.message, remedy: $0.remedy)
                }
                if !output.json { throw problems }
            }
            if output.json {
                writeOutput(try jsonLine(report))
                if !report.valid { throw ExitStatus.badInput }
                return
            }
            var table = TextTable(["TRANSPORT", "LANGUAGE", "BYTES", "LIMIT", ""], right: [2, 3])
            let largest = report.sizes.map(\.bytes).max()
            for size in report.sizes {
                let mark = size.bytes == largest ? "largest" : ""
                table.add([size.transport, size.language, "\(size.bytes)", "\(size.limit)", mark])
            }
            writeOutput("valid\n" + table.text)
        }
    }
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

    func run() async throws {
        try await reportingFailures {
            let (campaign, body) = try readCampaign(file)
            try await database.withClient { client in
                let created = try await AdminStore(client).createCampaign(campaign, body: body)
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
