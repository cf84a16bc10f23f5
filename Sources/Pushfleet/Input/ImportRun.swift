import Domain
import QueueStore

/// Feeds a file to the database in chunks of some thousand lines: what is held at a time is one of them.
struct ImportRun {
    struct Report: Encodable {
        var imported: Int64 = 0
        var added: Int64 = 0
        var changed: Int64 = 0
        var refused: Int64 = 0
        /// nil = no line was refused.
        var rejects: String?
    }

    private var session: ImportSession
    private var reader: SubscriberImport
    private let rejects: String
    private var chunk: [ImportedSubscriber] = []
    /// Of `chunk`, for the reject file.
    private var texts: [[UInt8]] = []
    private var report = Report()
    private var progress = ProgressLine()

    static let linesPerChunk = 5_000

    init(session: ImportSession, reader: SubscriberImport, rejects: String) {
        self.session = session
        self.reader = reader
        self.rejects = rejects
    }

    mutating func load(_ file: inout FileChunks) async throws -> Report {
        var refused: RejectFile?
        while true {
            let bytes: [UInt8]
            do {
                bytes = try file.next()
            } catch {
                throw CommandFailure(
                    "file: it could not be read to its end; \(grouped(report.imported)) lines are imported, run it again",
                    status: ExitStatus.failed)
            }
            if bytes.isEmpty { reader.finish() } else { reader.feed(bytes) }
            while let item = try next() {
                switch item {
                case .subscriber(let subscriber):
                    chunk.append(subscriber)
                    texts.append(Array(reader.text))
                case .refused(let line):
                    try keep(line, Array(reader.text), in: &refused)
                }
                if chunk.count == Self.linesPerChunk { try await flush(&refused, file) }
            }
            if bytes.isEmpty { break }
        }
        try await flush(&refused, file)
        progress.finish()
        if let count = refused?.count {
            report.refused = count
            report.rejects = rejects
        }
        return report
    }

    private mutating func next() throws -> SubscriberImport.Item? {
        do {
            return try reader.next()
        } catch {
            throw CommandFailure("file: \(error.message)")
        }
    }

    private mutating func flush(_ refused: inout RejectFile?, _ file: borrowing FileChunks) async throws {
        guard !chunk.isEmpty else { return }
        let taken = try await session.take(chunk[...])
        let texts = Dictionary(zip(chunk.map(\.line), self.texts)) { first, _ in first }
        for line in taken.refused { try keep(line, texts[line.line] ?? [], in: &refused) }
        report.added += taken.added
        report.changed += taken.changed
        report.imported = report.added + report.changed
        chunk.removeAll(keepingCapacity: true)
        self.texts.removeAll(keepingCapacity: true)
        progress.show("subscribers", done: report.imported, total: expected(file))
    }

    /// How many lines the file holds, if the rest is like what was read.
    private func expected(_ file: borrowing FileChunks) -> Int64? {
        guard let size = file.size, file.position > 0 else { return nil }
        return Int64(Double(report.imported) * Double(size) / Double(file.position))
    }

    private func keep(_ line: RefusedLine, _ text: [UInt8], in file: inout RejectFile?) throws {
        var open = file.take() ?? RejectFile(path: rejects, header: reader.header)
        try open.keep(line, text: text)
        file = consume open
    }
}
