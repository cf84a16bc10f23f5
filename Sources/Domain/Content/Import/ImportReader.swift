/// Cuts one format into records. What is no record of the format is refused with its line.
protocol ImportReader: Sendable {
    mutating func feed(_ chunk: [UInt8])
    mutating func finish()
    /// nil = feed more, or after `finish`, the end.
    mutating func next() throws(SubscriberImport.HeaderFault) -> Result<ImportRecord, RefusedLine>?
}

extension RefusedLine: Error {
    init(line: Int, column: ImportColumn? = nil, _ message: String) {
        self.init(line: line, reasons: [Reason(column: column, message: message)])
    }
}
