import ArgumentParser
import QueueStore

struct AppPause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Stops all runs and notifications of an app within a second.",
        discussion: "EXAMPLE\n  pushfleet app pause ferry")
    @OptionGroup var database: DatabaseOptions
    @Argument(help: "The app.") var name: String

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let isNews = try await ControlStore(client).pauseApp(name)
                writeOutput(
                    isNews
                        ? "app \(name) is paused; no request begins later than a second from now\n"
                        : "app \(name) was paused already\n")
                writeOutput("next: pushfleet app resume \(name)\n")
            }
        }
    }
}

struct AppResume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Goes on with a paused app; runs that are paused stay so.",
        discussion: "EXAMPLE\n  pushfleet app resume ferry")
    @OptionGroup var database: DatabaseOptions
    @Argument(help: "The app.") var name: String

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                guard try await ControlStore(client).resumeApp(name) else {
                    throw CommandFailure("name: app '\(name)' is not paused")
                }
                writeOutput("app \(name) goes on\n")
            }
        }
    }
}
