import ArgumentParser
import Domain
import FoundationEssentials
import QueueStore

struct SegmentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "segment", abstract: "Audiences under a name, for {\"segment\": \"name\"} in campaign files.",
        discussion: """
            A run keeps what its segments were when it was made.

            EXAMPLE
              pushfleet segment set regulars --app ferry regulars.json
              pushfleet segment list --app ferry
            """,
        subcommands: [SegmentSet.self, SegmentList.self, SegmentDelete.self])
}

struct SegmentSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Stores an audience under a name, or changes it.",
        discussion: """
            The file holds an audience alone, as a campaign file would: {"and": [{"tag": ["vip"]}, …]}.

            EXAMPLE
              pushfleet segment set regulars --app ferry regulars.json
            """)
    @OptionGroup var database: DatabaseOptions
    @Argument(help: "Its name within the app, at most 64 characters.") var name: String
    @Argument(help: "A file with the audience (JSON).") var file: String
    @Option(help: "The app that it belongs to.") var app: String

    func validate() throws { if let fault = nameFault(name) { throw ValidationError(fault) } }

    func run() async throws {
        try await reportingFailures {
            guard let data = FileManager.default.contents(atPath: file) else {
                throw CommandFailure("file: \(file) cannot be read; name a file with an audience (JSON)")
            }
            let audience = try Audience(json: [UInt8](data))
            try await database.withClient { client in
                try await AdminStore(client).setSegment(name, app: app, to: audience)
                writeOutput("segment \(name) of \(app) is set\n")
            }
        }
    }
}

struct SegmentList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists an app's segments.",
        discussion: "EXAMPLE\n  pushfleet segment list --app ferry")
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "The app.") var app: String

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let segments = try await AdminStore(client).segments(app: app)
                if output.json {
                    for segment in segments { writeOutput(try jsonLine(segment)) }
                    return
                }
                var table = TextTable(["NAME", "CHANGED", "AUDIENCE"])
                for segment in segments { table.add([segment.name, segment.changedAt, segment.audience]) }
                writeOutput(table.text)
            }
        }
    }
}

struct SegmentDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Removes a segment that no other stands on; runs that exist keep what it was.",
        discussion: "EXAMPLE\n  pushfleet segment delete regulars --app ferry")
    @OptionGroup var database: DatabaseOptions
    @Argument(help: "Its name within the app.") var name: String
    @Option(help: "The app that it belongs to.") var app: String

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                guard try await AdminStore(client).deleteSegment(name, app: app) else {
                    throw CommandFailure("segment: '\(name)' does not exist; see: pushfleet segment list")
                }
                writeOutput("segment \(name) of \(app) is gone\n")
            }
        }
    }
}
