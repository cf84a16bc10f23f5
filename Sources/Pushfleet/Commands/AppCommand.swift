import ArgumentParser
import QueueStore

struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "Apps: the tenants that own credentials, subscribers and campaigns.",
        discussion: "EXAMPLE\n  pushfleet app create ferry --time-zone Europe/Lisbon",
        subcommands: [
            AppCreate.self, AppList.self, AppSet.self, AppSetRate.self, AppPause.self, AppResume.self,
            AppGrant.self, AppRevoke.self, ChannelCommand.self, AppKeyCommand.self,
        ])
}

struct AppCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Creates an app; one that exists is left as it is.",
        discussion: "EXAMPLE\n  pushfleet app create ferry --time-zone Europe/Lisbon")
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "1 to 64 of a-z, 0-9, - and _, beginning with a letter.") var name: String
    @Option(help: "IANA zone for subscribers without one; default UTC.") var timeZone: String?

    func validate() throws {
        guard name.wholeMatch(of: /[a-z][a-z0-9_-]{0,63}/) != nil else {
            throw ValidationError("name: '\(name)' is no app name; use a-z, 0-9, - and _, beginning with a letter")
        }
    }

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let app = try await AdminStore(client).createApp(name: name, timeZone: timeZone ?? "UTC")
                if let timeZone, app.timeZone != timeZone {
                    throw CommandFailure(
                        "time-zone: app '\(name)' exists with \(app.timeZone) and was left so; leave --time-zone out")
                }
                if output.json { return writeOutput(try jsonLine(app)) }
                writeOutput("app \(app.name) has id \(app.id)\n")
                writeOutput("next: pushfleet credential add NAME --app \(app.name) --transport fcm --file KEY.json\n")
            }
        }
    }
}

struct AppList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the apps.", discussion: "EXAMPLE\n  pushfleet app list --json")
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let apps = try await AdminStore(client).apps()
                if output.json {
                    for app in apps { writeOutput(try jsonLine(app)) }
                    return
                }
                var table = TextTable(
                    ["ID", "NAME", "TIME ZONE", "SUBSCRIBERS", "FREQUENCY CAP", "QUIET HOURS"], right: [0, 3])
                for app in apps {
                    let hours = app.limits.quietHours.map { "\($0), \(app.limits.inQuietHours)" }
                    table.add([
                        "\(app.id)", app.name, app.timeZone, grouped(app.subscribers), app.limits.frequencyCap ?? "-",
                        hours ?? "-",
                    ])
                }
                writeOutput(table.text)
            }
        }
    }
}
