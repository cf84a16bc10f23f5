import ArgumentParser
import Crypto
import Domain
import Logging
import Postgres
import QueueStore

struct SubscriberImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Imports subscribers from CSV or JSON Lines.",
        discussion: """
            Columns: external_id, user_id, transport, address, environment, p256dh, auth, language, time_zone, attributes,
            tags, registered_at, vapid_key. A line that cannot be taken is kept as it stands in the reject file, to be mended and
            imported again, and its number with the reason in REJECTS.reasons; the others are imported. The same file can
            be imported again. Memory does not grow with the file.

            EXAMPLE
              pushfleet subscriber import --app ferry subscribers.csv --rejects rejected.csv
              zcat subscribers.jsonl.gz | pushfleet subscriber import --app ferry --format jsonl -
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "The app that they belong to.") var app: String
    @Option(help: "csv or jsonl; default by the file's ending.") var format: String?
    @Option(help: "Where refused lines are kept; default FILE.rejects.") var rejects: String?
    @Argument(help: "The file; - is standard input.") var file: String

    func validate() throws {
        if let format, !["csv", "jsonl"].contains(format) {
            throw ValidationError("format: '\(format)' is unknown; use csv or jsonl")
        }
    }

    func run() async throws {
        try await reportingFailures {
            guard let chunks = FileChunks(path: file) else {
                throw CommandFailure("file: \(file) cannot be read; name a CSV or JSON Lines file")
            }
            let report = try await load(chunks)
            if output.json { return writeOutput(try jsonLine(report)) }
            writeOutput("\(grouped(report.imported)) imported: ")
            writeOutput("\(grouped(report.added)) new, \(grouped(report.changed)) known\n")
            if let rejects = report.rejects {
                writeOutput("\(grouped(report.refused)) lines refused; see \(rejects) and \(rejects).reasons\n")
            }
        }
    }

    private func load(_ chunks: consuming FileChunks) async throws -> ImportRun.Report {
        let isLines = format == "jsonl" || (format == nil && !file.hasSuffix(".csv"))
        let reader = SubscriberImport(
            format: isLines ? .jsonLines : .csv,
            check: SubscriberCheck(endpoints: try EgressSettings.fromEnvironment().endpoints) {
                (try? P256.Signing.PublicKey(x963Representation: $0)) != nil
            },
            findsRepeats: false)
        let rejects = rejects ?? (file == "-" ? "stdin" : file) + ".rejects"
        try await database.requireReachable()
        let client = PostgresClient(
            database.configuration, connections: 1, logger: Logger(label: "pushfleet.postgres"))
        do {
            var run = ImportRun(
                session: try await AdminStore(client).beginImport(app: app), reader: reader, rejects: rejects)
            let report = try await run.load(&chunks)
            await client.close()
            return report
        } catch {
            await client.close()
            throw error
        }
    }
}
