/// CSV whose first record names the columns, in any order.
struct CSVImportReader: ImportReader {
    private var records = CSVRecordReader()
    private var columns: [ImportColumn]?
    private(set) var header: [UInt8] = []

    var text: ArraySlice<UInt8> { records.text }

    mutating func feed(_ chunk: [UInt8]) { records.feed(chunk) }
    mutating func finish() { records.finish() }

    mutating func next() throws(SubscriberImport.HeaderFault) -> Result<ImportRecord, RefusedLine>? {
        while let item = records.next() {
            switch item {
            case .malformed(let line, let message):
                guard columns != nil else { throw SubscriberImport.HeaderFault(message: message) }
                return .failure(RefusedLine(line: line, message))
            case .record(let record):
                guard let columns else {
                    self.columns = try Self.columns(record.fields)
                    header = Array(records.text)
                    continue
                }
                return Self.record(record, columns)
            }
        }
        return nil
    }

    private static func record(
        _ record: CSVRecordReader.Record, _ columns: [ImportColumn]
    ) -> Result<ImportRecord, RefusedLine> {
        guard record.fields.count == columns.count else {
            let message = "The line has \(record.fields.count) columns, the header \(columns.count)."
            return .failure(RefusedLine(line: record.line, message))
        }
        var result = ImportRecord(line: record.line)
        for (column, field) in zip(columns, record.fields) { result[column] = field }
        result.tags = result[.tags].split(separator: ";").map { String($0) }
        return .success(result)
    }

    private static func columns(_ names: [String]) throws(SubscriberImport.HeaderFault) -> [ImportColumn] {
        let unknown = names.filter { ImportColumn(rawValue: $0) == nil }
        let columns = names.compactMap { ImportColumn(rawValue: $0) }
        guard unknown.isEmpty else {
            let known = ImportColumn.allCases.map(\.rawValue).joined(separator: ", ")
            let named = unknown.map { $0.isEmpty ? "(empty)" : String($0.prefix(64)) }.joined(separator: ", ")
            throw SubscriberImport.HeaderFault(message: "Unknown columns: \(named). Known: \(known).")
        }
        guard Set(columns).count == columns.count else {
            throw SubscriberImport.HeaderFault(message: "The header names a column twice.")
        }
        let missing = ImportColumn.required.filter { !columns.contains($0) }
        guard missing.isEmpty else {
            let named = missing.map(\.rawValue).joined(separator: ", ")
            throw SubscriberImport.HeaderFault(message: "The header lacks these columns: \(named).")
        }
        return columns
    }
}
