/// One JSON object a line. `attributes` is an object, `tags` an array of texts or one text joined with `;`, all else a
/// text; null is as good as absent.
struct JSONLinesImportReader: ImportReader {
    private var buffer: [UInt8] = []
    private var position = 0
    private var line = 1
    private var isComplete = false
    private var given = 0..<0
    let header: [UInt8] = []

    var text: ArraySlice<UInt8> { buffer[given] }

    mutating func feed(_ chunk: [UInt8]) {
        buffer.removeSubrange(..<position)
        position = 0
        given = 0..<0
        buffer.append(contentsOf: chunk)
    }

    mutating func finish() { isComplete = true }

    mutating func next() throws(SubscriberImport.HeaderFault) -> Result<ImportRecord, RefusedLine>? {
        while position < buffer.count {
            let start = position
            guard let end = endOfLine(from: start) else { return nil }
            position = min(end + 1, buffer.count)
            given = start..<position
            defer { line += 1 }
            if end - start > CSVRecordReader.maximumRecordBytes {
                return .failure(RefusedLine(line: line, "The line is longer than a MiB."))
            }
            let bytes = Array(buffer[start..<end])
            if bytes.allSatisfy(WhiteSpace.isASCII) { continue }
            return record(bytes)
        }
        return nil
    }

    private func endOfLine(from start: Int) -> Int? {
        let bytes = buffer.span
        for index in start..<bytes.count where bytes[index] == UInt8(ascii: "\n") { return index }
        return isComplete ? bytes.count : nil
    }

    private func record(_ bytes: [UInt8]) -> Result<ImportRecord, RefusedLine> {
        let (record, reasons) = read(bytes)
        guard let record, reasons.isEmpty else { return .failure(RefusedLine(line: line, reasons: reasons)) }
        return .success(record)
    }

    /// - Returns: what could be read, nil when it is no object, and everything that could not.
    func read(_ bytes: [UInt8]) -> (record: ImportRecord?, reasons: [RefusedLine.Reason]) {
        let outline: JSONSyntax.Outline
        do throws(JSONSyntax.Fault) {
            outline = try JSONSyntax.outline(of: bytes)
        } catch {
            return (nil, [.init(message: "Column \(error.column): \(error.message)")])
        }
        guard let members = outline.members else { return (nil, [.init(message: "The line is no JSON object.")]) }
        if outline.holdsNull { return (nil, [.init(message: "A text holds the character U+0000.")]) }
        var record = ImportRecord(line: line)
        var reasons: [RefusedLine.Reason] = []
        for (name, range) in members {
            if let column = ImportColumn(rawValue: name) {
                if !set(column, to: bytes[range], of: &record) {
                    reasons.append(.init(column: column, message: "This must be \(Self.kind(of: column))."))
                }
            } else {
                let known = ImportColumn.allCases.map(\.rawValue).joined(separator: ", ")
                reasons.append(.init(unknownMember: name, message: "A member is none of \(known)."))
            }
        }
        return (record, reasons)
    }

    private static func kind(of column: ImportColumn) -> String {
        switch column {
        case .attributes: "an object"
        case .tags: "an array of texts"
        default: "a text"
        }
    }

    private func set(_ column: ImportColumn, to value: ArraySlice<UInt8>, of record: inout ImportRecord) -> Bool {
        switch (column, value.first) {
        case (_, UInt8(ascii: "n")): break  // null
        case (.attributes, UInt8(ascii: "{")): record[.attributes] = String(decoding: value, as: UTF8.self)
        case (.attributes, _): return false
        case (.tags, UInt8(ascii: "[")):
            guard let tags = texts(Array(value)) else { return false }
            record.tags = tags
        case (.tags, UInt8(ascii: "\"")):
            record.tags = JSONSyntax.text(value).split(separator: ";").map { String($0) }
        case (_, UInt8(ascii: "\"")): record[column] = JSONSyntax.text(value)
        default: return false
        }
        return true
    }

    /// An array of texts and nothing else.
    private func texts(_ array: [UInt8]) -> [String]? {
        guard let elements = try? JSONSyntax.outline(of: array).elements,
            elements.allSatisfy({ array[$0.lowerBound] == UInt8(ascii: "\"") })
        else { return nil }
        return elements.map { JSONSyntax.text(array[$0]) }
    }
}
