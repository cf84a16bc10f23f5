import ArgumentParser
import Domain
import FoundationEssentials
import Transports

struct LegacyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "legacy", abstract: "For those who come from FCM's old HTTP and XMPP interfaces.",
        discussion: "EXAMPLE\n  pushfleet legacy translate old.json",
        subcommands: [LegacyTranslate.self, LegacyErrors.self])
}

struct LegacyTranslate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "translate", abstract: "Translates an old downstream message, member by member.",
        discussion: """
            Prints the v1 send request, or several where there are several tokens; with --app a campaign file. What has no
            successor is named on standard error, or with --json under "notes".

            EXAMPLE
              pushfleet legacy translate old.json
              pushfleet legacy translate old.json --app ferry --language en > campaign.json
            """)
    @OptionGroup var output: OutputOptions
    @Option(help: "Make a campaign file for this app.") var app: String?
    @Option(help: "The language of its texts, for a campaign.") var language = "en"
    @Option(help: "The campaign's name.") var name = "Translated message"
    @Argument(help: "The old message (JSON).") var file: String

    struct Report: Encodable {
        struct Note: Encodable { let pointer, message: String }
        let requests: [JSONValue]
        let campaign: JSONValue?
        let notes: [Note]
    }

    func run() async throws {
        try await reportingFailures {
            guard let data = FileManager.default.contents(atPath: file) else {
                throw CommandFailure("file: \(file) cannot be read; name a message of the old interface (JSON)")
            }
            var message = try LegacyMessage([UInt8](data))
            let now = Int64(Date().timeIntervalSince1970)
            let campaign = app.map { message.campaign(app: $0, name: name, language: language, now: now) }
            let requests = campaign == nil ? message.v1Requests(now: now) : []
            if output.json {
                let notes = message.notes.map { Report.Note(pointer: $0.pointer, message: $0.message) }
                return writeOutput(try exactJSONLine(Report(requests: requests, campaign: campaign, notes: notes)))
            }
            for value in campaign.map({ [$0] }) ?? requests { writeOutput(value.text + "\n") }
            for note in message.notes { writeError("\(note.pointer): \(note.message)\n") }
        }
    }
}

struct LegacyErrors: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errors", abstract: "Lists the old error codes and what each is taken for.",
        discussion: "EXAMPLE\n  pushfleet legacy errors --json")
    @OptionGroup var output: OutputOptions

    struct Row: Encodable { let code, successor, answer, action: String }

    func run() async throws {
        try await reportingFailures {
            let rows = FCMLegacyCode.table.map {
                Row(code: $0.code, successor: $0.successor, answer: $0.answerName, action: $0.action)
            }
            if output.json {
                for row in rows { writeOutput(try jsonLine(row)) }
                return
            }
            var table = TextTable(["CODE", "V1", "CLASS", "WHAT TO DO"])
            for row in rows { table.add([row.code, row.successor, row.answer, row.action]) }
            writeOutput(table.text)
        }
    }
}
