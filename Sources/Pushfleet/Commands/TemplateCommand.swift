import ArgumentParser
import Domain
import FoundationEssentials
import QueueStore

struct TemplateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "template", abstract: "Templates: messages stored under a name, for campaigns and notifications.",
        discussion: """
            A campaign whose message is {"template": "welcome"} takes the newest version when it is created, and keeps it.

            EXAMPLE
              pushfleet template save welcome --app ferry --file welcome.json
            """,
        subcommands: [TemplateSave.self, TemplateList.self, TemplateShow.self])
}

struct TemplateSave: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "save", abstract: "Stores a message as the next version of a template.",
        discussion: """
            The file holds what a campaign file has under "message", and is held to the same rules. A version is never
            changed; the same message again makes no new one.

            EXAMPLE
              pushfleet template save welcome --app ferry --file welcome.json
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Its name within the app, at most 64 characters.") var name: String
    @Option(help: "The app that it belongs to.") var app: String
    @Option(help: "The message (JSON).") var file: String

    struct Saved: Encodable {
        let name: String
        let version: Int32
    }

    func validate() throws {
        if let fault = nameFault(name) { throw ValidationError(fault) }
    }

    func run() async throws {
        try await reportingFailures {
            guard let data = FileManager.default.contents(atPath: file) else {
                throw CommandFailure("file: \(file) cannot be read; name a message (JSON)")
            }
            let message = try MessageReader.message(from: String(decoding: data, as: UTF8.self))
            try await database.withClient { client in
                let store = AdminStore(client)
                let settings = try await store.contentSettings(app: app)
                try requireFit(message, settings)
                let saved = try await store.saveTemplate(app: app, name: name, json: message.encode())
                if output.json { return writeOutput(try jsonLine(Saved(name: name, version: saved.version))) }
                writeOutput("template \(name) of \(app) is at version \(saved.version)\n")
                writeOutput("use it: \"message\": {\"template\": \"\(name)\"}\n")
            }
        }
    }

    private func requireFit(_ message: Message, _ settings: AppContentSettings) throws {
        var delivery = DeliveryOptions()
        delivery.fcmMode = settings.fcmMode
        let transports = Set(TransportKind.allCases).subtracting(message.silent ? [.webpush] : [])
        let problems = ContentFaces(settings).sizes(of: message, delivery: delivery)
            .narrowed(to: transports, target: nil).filter { $0.bytes > $0.limit }
            .map { size in
                Problem(
                    pointer: size.language.map { "/content/\($0)" } ?? "", code: ProblemCode.payloadTooLarge.rawValue,
                    message: "On \(size.transport.name) this has \(size.bytes) bytes; the limit is \(size.limit).",
                    remedy: "Shorten the text or the data by \(size.bytes - size.limit) bytes.")
            }
        if !problems.isEmpty { throw ContentProblems(problems) }
    }
}

struct TemplateList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists an app's templates, every version.",
        discussion: "EXAMPLE\n  pushfleet template list --app ferry")
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "The app.") var app: String

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let templates = try await AdminStore(client).templates(app: app)
                if output.json {
                    for template in templates { writeOutput(try jsonLine(template)) }
                    return
                }
                var table = TextTable(["NAME", "VERSION", "SAVED", "LANGUAGES"], right: [1])
                for each in templates {
                    let languages = each.isSilent ? "silent" : each.languages.joined(separator: ", ")
                    table.add([each.name, "\(each.version)", each.createdAt, languages])
                }
                writeOutput(table.text)
            }
        }
    }
}

struct TemplateShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Prints a template's message as JSON.",
        discussion: "EXAMPLE\n  pushfleet template show welcome --app ferry --version 2")
    @OptionGroup var database: DatabaseOptions
    @Argument(help: "Its name.") var name: String
    @Option(help: "The app that it belongs to.") var app: String
    @Option(help: "Which version; default the newest.") var version: Int?

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let number = version.map { Int32(clamping: $0) }
                guard let found = try await AdminStore(client).template(app: app, name: name, version: number) else {
                    throw CommandFailure("name: app '\(app)' has no such template; see: pushfleet template list")
                }
                writeOutput(found.messageJSON + "\n")
            }
        }
    }
}
