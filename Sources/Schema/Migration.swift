/// One change of the schema and the way back: `Migrations/NNNN_name.up.sql` and `.down.sql`.
package struct Migration: Sendable, Equatable {
    package let number: Int
    package let name: String
    /// What it is for, from the header of the file.
    package let why: String
    /// What it locks and for how long.
    package let locks: String
    package let isSafeWithWorkers: Bool
    /// The lowest `BinaryLevel` that may run once this is applied.
    package let lowestBinary: Int
    /// The whole text of the up file, which must not change once it ran.
    package let up: String
    package let down: String

    /// `0007_job_lease`
    package var title: String { Self.title(number, name) }

    static func title(_ number: Int, _ name: String) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "_" + name
    }
}

extension Migration {
    /// - Parameter title: `0007_job_lease`.
    /// - Throws: `malformedFile`, which says what the file lacks.
    init(title: String, up: String, down: String) throws(SchemaError) {
        let parts = title.split(separator: "_", maxSplits: 1)
        guard parts.count == 2, parts[0].count == 4, let number = Int(parts[0]), number > 0 else {
            throw .malformed(title, "its name does not begin with four digits and an underscore")
        }
        let header = Self.header(up)
        guard let why = header["why"] else { throw .malformed(title, "'-- why: …' is missing") }
        guard let locks = header["locks"] else { throw .malformed(title, "'-- locks: …' is missing") }
        guard let lowest = header["lowest binary"].flatMap({ Int($0) }) else {
            throw .malformed(title, "'-- lowest binary: N' is missing")
        }
        let safe = header["safe with workers running"]
        guard safe == "yes" || safe == "no" else {
            throw .malformed(title, "'-- safe with workers running: yes' or 'no' is missing")
        }
        for statement in SQLStatement.split(up) + SQLStatement.split(down) where statement.isTransactionControl {
            throw .malformed(
                title, "'\(statement.firstWord)' in line \(statement.line): the transaction is the migrator's")
        }
        self.init(
            number: number, name: String(parts[1]), why: why, locks: locks, isSafeWithWorkers: safe == "yes",
            lowestBinary: lowest, up: up, down: down)
    }

    /// `-- key: value` in the comment that the text begins with.
    private static func header(_ text: String) -> [String: String] {
        var header: [String: String] = [:]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("-- ") else { break }
            let parts = line.dropFirst(3).split(separator: ": ", maxSplits: 1)
            if parts.count == 2 { header[String(parts[0])] = parts[1].trimmingSpaces() }
        }
        return header
    }
}

extension Substring {
    fileprivate func trimmingSpaces() -> String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " || $0 == "\r" }.reversed())
    }
}
