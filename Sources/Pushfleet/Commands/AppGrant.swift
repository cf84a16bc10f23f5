import ArgumentParser
import QueueStore

struct AppGrant: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant", abstract: "Lets a database role call the SQL API for an app.",
        discussion: "EXAMPLE\n  pushfleet app grant ferry shop_backend")
    @OptionGroup var database: DatabaseOptions
    @Argument(help: "The app.") var name: String
    @Argument(help: "The role; its members may call, too.") var role: String

    func validate() throws {
        if role.isEmpty { throw ValidationError("role: it is empty; name a database role") }
    }

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let isNews = try await AdminStore(client).grant(app: name, to: role)
                writeOutput("role \(role) \(isNews ? "may" : "could already") call for app \(name)\n")
                writeOutput("next, as \(role): SELECT pushfleet.notify('\(name)', …)\n")
            }
        }
    }
}

struct AppRevoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Takes an app back from a database role.",
        discussion: "EXAMPLE\n  pushfleet app revoke ferry shop_backend")
    @OptionGroup var database: DatabaseOptions
    @Argument(help: "The app.") var name: String
    @Argument(help: "The role.") var role: String

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                guard try await AdminStore(client).revoke(app: name, from: role) else {
                    throw CommandFailure("role: '\(role)' was not granted app '\(name)'")
                }
                writeOutput("role \(role) may no longer call for app \(name)\n")
            }
        }
    }
}
