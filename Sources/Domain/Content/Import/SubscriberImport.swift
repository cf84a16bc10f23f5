/// Reads subscribers from CSV or JSON Lines, chunk by chunk, and checks each line. Memory does not grow with the file,
/// save for a hash per line that finds repeated ids, where the database does not find them.
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
    private let findsRepeats: Bool

    /// - Parameter findsRepeats: refuse an id that stood on an earlier line; false = whoever takes the lines does.
    package init(format: Format, check: SubscriberCheck, findsRepeats: Bool = true) {
        reader = format == .csv ? CSVImportReader() : JSONLinesImportReader()
        self.check = check
        self.findsRepeats = findsRepeats
    }

    /// What must stand before lines of this file for them to be imported alone.
    package var header: [UInt8] { reader.header }

    /// The line that was given last, as it stands in the file. Until the next chunk is fed.
    package var text: ArraySlice<UInt8> { reader.text }

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
            guard !findsRepeats || seen.insert(subscriber.externalID.hashValue).inserted else {
                return .refused(.repeated(record.line))
            }
            return .subscriber(subscriber)
        }
    }
}

extension RefusedLine {
    /// The id of a line stood on an earlier one.
    package static func repeated(_ line: Int) -> RefusedLine {
        RefusedLine(line: line, column: .externalID, "The id stands on an earlier line too.")
    }

    /// Whatever the checks let pass and the database does not.
    /// - Parameter code: the SQLSTATE.
    package static func unstorable(_ line: Int, code: String) -> RefusedLine {
        RefusedLine(line: line, "The database cannot hold a value of this line (SQLSTATE \(code)).")
    }
}
