/// Cuts one format into records. What is no record of the format is refused with its line.
protocol ImportReader: Sendable {
    mutating func feed(_ chunk: [UInt8])
    mutating func finish()
    /// What must stand before the lines of a file of this format.
    var header: [UInt8] { get }
    /// What `next` gave last, as it stands in the file. Until the next chunk is fed.
    var text: ArraySlice<UInt8> { get }
    /// nil = feed more, or after `finish`, the end.
    mutating func next() throws(SubscriberImport.HeaderFault) -> Result<ImportRecord, RefusedLine>?
}

extension RefusedLine: Error {
    init(line: Int, column: ImportColumn? = nil, _ message: String) {
        self.init(line: line, reasons: [Reason(column: column, message: message)])
    }
}
