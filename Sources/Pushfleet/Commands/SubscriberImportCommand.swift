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
            be imported again, and so can its reject file. Memory does not grow with the file.

            EXAMPLE
              pushfleet subscriber import --app ferry subscribers.csv --rejects rejected.csv
              zcat subscribers.jsonl.gz | pushfleet subscriber import --app ferry --format jsonl -
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "The app that they belong to.") var app: String
    @Option(help: "csv or jsonl; default by the file's ending, .rejects left out.") var format: String?
    @Option(help: "Where refused lines are kept; default FILE.rejects.") var rejects: String?
    @Argument(help: "The file; - is standard input.") var file: String

    func validate() throws {
        if let format, !["csv", "jsonl"].contains(format) {
            throw ValidationError("format: '\(format)' is unknown; use csv or jsonl")
        }
    }

    func run() async throws {
        try await reportingFailures {
            let isLines = try isLines
            guard let chunks = FileChunks(path: file) else {
                throw CommandFailure("file: \(file) cannot be read; name a CSV or JSON Lines file")
            }
            let rejects = rejects ?? (file == "-" ? "stdin" : file) + ".rejects"
            guard !chunks.isFile(at: rejects), !chunks.isFile(at: rejects + ".reasons") else {
                throw CommandFailure(
                    "rejects: \(rejects) or its .reasons is the file itself; name another with --rejects")
            }
            let report = try await load(chunks, isLines: isLines, rejects: rejects)
            if output.json { return writeOutput(try jsonLine(report)) }
            writeOutput("\(grouped(report.imported)) imported: ")
            writeOutput("\(grouped(report.added)) new, \(grouped(report.changed)) known\n")
            if let rejects = report.rejects {
                writeOutput("\(grouped(report.refused)) lines refused; see \(rejects) and \(rejects).reasons\n")
            }
        }
    }

    /// JSON Lines rather than CSV. A reject file is of the kind that its file was.
    private var isLines: Bool {
        get throws {
            if let format { return format == "jsonl" }
            var name = file[...]
            while name.hasSuffix(".rejects") { name.removeLast(".rejects".count) }
            if name.hasSuffix(".csv") { return false }
            if [".jsonl", ".ndjson", ".json"].contains(where: { name.hasSuffix($0) }) { return true }
            let source = file == "-" ? "standard input" : file
            throw CommandFailure("format: the name of \(source) does not say it; add --format csv or --format jsonl")
        }
    }

    private func load(
        _ chunks: consuming FileChunks, isLines: Bool, rejects: String
    ) async throws -> ImportRun.Report {
        let reader = SubscriberImport(
            format: isLines ? .jsonLines : .csv,
            check: SubscriberCheck(endpoints: try EgressSettings.fromEnvironment().endpoints) {
                (try? P256.Signing.PublicKey(x963Representation: $0)) != nil
            },
            findsRepeats: false)
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
