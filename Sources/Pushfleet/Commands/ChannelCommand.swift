import ArgumentParser
import Domain
import QueueStore

struct ChannelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel", abstract: "Android channels, described in every push that names one.",
        discussion: """
            EXAMPLE
              pushfleet app channel add boarding --app ferry --name "Boarding calls" --importance high
            """,
        subcommands: [ChannelAdd.self, ChannelList.self, ChannelRemove.self])
}

struct ChannelAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Defines a channel, or gives it another definition.",
        discussion: """
            The SDK creates a channel on a device when a push names it for the first time; Android then keeps its
            importance and sound, whatever is defined later.

            EXAMPLE
              pushfleet app channel add boarding --app ferry --name "Boarding calls" --importance high --sound horn
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Its id: 1 to 64 letters, digits, _, . and -.") var id: String
    @Option(help: "The app that it belongs to.") var app: String
    @Option(help: "What users read in the system's settings.") var name: String
    @Option(help: "none, min, low, default or high.") var importance = "default"
    @Option(help: "More words for users.") var description: String?
    @Option(help: "A sound file of the app.") var sound: String?
    @Option(help: "true or false.") var vibration: Bool?
    @Option(help: "true or false.") var lights: Bool?
    @Option(help: "true or false.") var badge: Bool?

    func run() async throws {
        try await reportingFailures {
            let known = AndroidChannel.Importance(rawValue: importance)
            let channel = AndroidChannel(
                id: id, name: name, importance: known ?? .default, description: description, sound: sound,
                vibration: vibration, lights: lights, badge: badge)
            guard known != nil else {
                let fault = "importance: '\(importance)' is unknown; use none, min, low, default or high"
                throw CommandFailure(
                    channel.problems.isEmpty ? fault : fault + "\n" + describe(channel.problems))
            }
            guard channel.problems.isEmpty else { throw ContentProblems(channel.problems) }
            try await database.withClient { client in
                try await AdminStore(client).defineChannel(app: app, channel)
                if output.json { return writeOutput(channel.text + "\n") }
                writeOutput("channel \(id) of \(app) is defined\n")
            }
        }
    }
}

struct ChannelList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists an app's channels.",
        discussion: "EXAMPLE\n  pushfleet app channel list --app ferry")
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "The app.") var app: String

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let channels = try await AdminStore(client).channels(app: app)
                if output.json {
                    for channel in channels { writeOutput(channel.text + "\n") }
                    return
                }
                var table = TextTable(["ID", "NAME", "IMPORTANCE", "SOUND"])
                for channel in channels {
                    table.add([channel.id, channel.name, channel.importance.rawValue, channel.sound ?? ""])
                }
                writeOutput(table.text)
            }
        }
    }
}

struct ChannelRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forgets a channel's definition; devices keep the channel.",
        discussion: "EXAMPLE\n  pushfleet app channel remove boarding --app ferry")
    @OptionGroup var database: DatabaseOptions
    @Argument(help: "Its id.") var id: String
    @Option(help: "The app that it belongs to.") var app: String

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                guard try await AdminStore(client).removeChannel(app: app, id: id) else {
                    throw CommandFailure("id: app '\(app)' has no channel '\(id)'; see: pushfleet app channel list")
                }
                writeOutput("channel \(id) of \(app) is forgotten\n")
            }
        }
    }
}
