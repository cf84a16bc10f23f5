import ArgumentParser
import Crypto
import Domain
import FoundationEssentials
import Postgres
import QueueStore

struct SubscriberImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Imports subscribers from CSV or JSON Lines.",
        discussion: """
            Columns: external_id, user_id, transport, address, environment, p256dh, auth, language, time_zone, attributes,
            tags, registered_at. A line that cannot be taken is reported with its number and kept, with the reason, in the
            reject file; the others are imported. The same file can be imported again.

            EXAMPLE
              pushfleet subscriber import --app ferry subscribers.csv --rejects rejected.txt
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "The app that they belong to.") var app: String
    @Option(help: "csv or jsonl; default by the file's ending.") var format: String?
    @Option(help: "Where refused lines are listed; default FILE.rejects.") var rejects: String?
    @Argument(help: "The file.") var file: String

    struct Report: Encodable {
        var imported: Int64 = 0
        var added: Int64 = 0
        var changed: Int64 = 0
        var refused: Int64 = 0
        var rejects: String?
    }

    func validate() throws {
        if let format, !["csv", "jsonl"].contains(format) {
            throw ValidationError("format: '\(format)' is unknown; use csv or jsonl")
        }
    }

    func run() async throws {
        try await reportingFailures {
            guard let handle = FileManager.default.contents(atPath: file) else {
                throw CommandFailure("file: \(file) cannot be read; name a CSV or JSON Lines file")
            }
            let report = try await database.withClient { client in
                try await load(handle, into: AdminStore(client))
            }
            if output.json { return writeOutput(try jsonLine(report)) }
            writeOutput("\(grouped(report.imported)) imported: ")
            writeOutput("\(grouped(report.added)) new, \(grouped(report.changed)) known\n")
            if let rejects = report.rejects {
                writeOutput("\(grouped(report.refused)) lines refused; see \(rejects)\n")
            }
        }
    }

    private func load(_ data: Data, into store: AdminStore) async throws -> Report {
        let isLines = format == "jsonl" || (format == nil && !file.hasSuffix(".csv"))
        var reader = SubscriberImport(
            format: isLines ? .jsonLines : .csv,
            check: SubscriberCheck(endpoints: try EgressSettings.fromEnvironment().endpoints) {
                (try? P256.Signing.PublicKey(x963Representation: $0)) != nil
            })
        var report = Report()
        var progress = ProgressLine()
        var chunk: [ImportedSubscriber] = []
        var refused: [String] = []
        var offset = data.startIndex
        while true {
            let end = min(offset + 262_144, data.endIndex)
            if offset < end { reader.feed([UInt8](data[offset..<end])) } else { reader.finish() }
            let isLast = offset >= end
            offset = end
            while let item = try next(&reader) {
                switch item {
                case .subscriber(let subscriber): chunk.append(subscriber)
                case .refused(let line): refused.append(describe(line))
                }
                if chunk.count == 5_000 { try await flush(&chunk, store, &report, &progress) }
            }
            if isLast { break }
        }
        try await flush(&chunk, store, &report, &progress)
        progress.finish()
        report.refused = Int64(refused.count)
        if !refused.isEmpty { report.rejects = try keep(refused) }
        return report
    }

    private func next(_ reader: inout SubscriberImport) throws -> SubscriberImport.Item? {
        do {
            return try reader.next()
        } catch {
            throw CommandFailure("file: \(error.message)")
        }
    }

    private func flush(
        _ chunk: inout [ImportedSubscriber], _ store: AdminStore, _ report: inout Report,
        _ progress: inout ProgressLine
    ) async throws {
        guard !chunk.isEmpty else { return }
        let imported = try await store.importChunk(chunk, app: app)
        report.added += imported.added
        report.changed += imported.changed
        report.imported = report.added + report.changed
        chunk.removeAll(keepingCapacity: true)
        progress.show("subscribers", done: report.imported, total: nil)
    }

    private func describe(_ line: RefusedLine) -> String {
        let reasons = line.reasons.map { reason in
            (reason.column.map { "\($0.rawValue): " } ?? "") + reason.message
        }
        return "\(line.line)\t\(reasons.joined(separator: " "))"
    }

    private func keep(_ lines: [String]) throws -> String {
        let path = rejects ?? file + ".rejects"
        let text = "line\treason\n" + lines.joined(separator: "\n") + "\n"
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8)) else {
            throw CommandFailure("rejects: \(path) cannot be written; name another file", status: ExitStatus.failed)
        }
        return path
    }
}
