/// Reads subscribers from CSV or JSON Lines, chunk by chunk, and checks each line. Memory does not grow with the file,
/// save for a hash per line that finds repeated ids.
package struct SubscriberImport: Sendable {
    package enum Format: Sendable { case csv, jsonLines }

    package enum Item: Sendable, Equatable {
        case subscriber(ImportedSubscriber)
        case refused(RefusedLine)
    }

    /// The file as a whole cannot be imported.
    package struct HeaderFault: Error, Equatable {
        package let message: String
    }

    private var reader: any ImportReader
    private let check: SubscriberCheck
    /// Of the ids that were taken. Hashes are seeded by process, so nobody can make two collide.
    private var seen: Set<Int> = []

    package init(format: Format, check: SubscriberCheck) {
        reader = format == .csv ? CSVImportReader() : JSONLinesImportReader()
        self.check = check
    }

    package mutating func feed(_ chunk: [UInt8]) { reader.feed(chunk) }

    /// No chunk follows.
    package mutating func finish() { reader.finish() }

    /// The next line's subscriber or refusal; nil = feed more, or after `finish`, the end.
    package mutating func next() throws(HeaderFault) -> Item? {
        switch try reader.next() {
        case nil: return nil
        case .failure(let refused)?: return .refused(refused)
        case .success(let record)?: return checked(record)
        }
    }

    private mutating func checked(_ record: ImportRecord) -> Item {
        switch check(record) {
        case .failure(let refused): return .refused(refused)
        case .success(let subscriber):
            guard seen.insert(subscriber.externalID.hashValue).inserted else {
                return .refused(
                    RefusedLine(line: record.line, column: .externalID, "The id stands on an earlier line too."))
            }
            return .subscriber(subscriber)
        }
    }
}
