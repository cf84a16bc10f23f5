import ArgumentParser
import QueueStore

struct ReportShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Any view of schema pushfleet_report, as a table, CSV or JSON lines.",
        discussion: """
            Views: \(ReportView.allCases.map(\.rawValue).joined(separator: ", ")).
            Counts are up to a minute behind while a run goes on. What each view holds: Deploy/reports.md.

            EXAMPLE
              pushfleet report show queue
              pushfleet report show outcomes --run 12 --csv
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The view.") var view: String
    @Option(help: "Only this run.") var run: Int?
    @Option(help: "Most rows.") var limit = 200
    @Flag(help: "Print CSV with a header.") var csv = false

    func validate() throws {
        guard let known = ReportView(rawValue: view) else {
            let names = ReportView.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("view: '\(view)' is unknown; use one of \(names)")
        }
        guard run == nil || known.isByRun else {
            throw ValidationError("run: \(view) does not know runs; leave --run out")
        }
        guard (1...1_000_000).contains(limit) else {
            throw ValidationError("limit: \(limit) is out of range; use 1 to 1000000")
        }
        guard !(csv && output.json) else { throw ValidationError("csv: not together with --json; choose one") }
    }

    func run() async throws {
        guard let view = ReportView(rawValue: view) else { return }
        try await reportingFailures {
            let found = try await database.withClient { client in
                try await AdminStore(client).rows(of: view, run: run.map { Int64($0) }, limit: Int32(limit))
            }
            writeOutput(text(found))
        }
    }

    private func text(_ found: ViewRows) -> String {
        if output.json { return found.json.map { $0 + "\n" }.joined() }
        guard !found.rows.isEmpty else { return csv ? "" : "nothing yet\n" }
        if csv {
            let lines = [found.columns] + found.rows.map { $0.map { $0 ?? "" } }
            return lines.map { $0.map { csvField($0) }.joined(separator: ",") + "\n" }.joined()
        }
        let numeric = found.columns.indices.filter { column in
            found.rows.allSatisfy { $0[column].map { Double($0) != nil } ?? true }
        }
        var table = TextTable(found.columns.map { $0.uppercased() }, right: Set(numeric))
        for row in found.rows { table.add(row.map { $0 ?? "-" }) }
        return table.text
    }

    /// RFC 4180.
    private func csvField(_ text: String) -> String {
        guard text.contains(where: { ",\"\r\n".contains($0) }) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
