/// Cuts CSV into records as it comes in (RFC 4180; lines may end with LF too). Holds no more than one record and one
/// chunk, whatever the file's size.
package struct CSVRecordReader: Sendable {
    package struct Record: Sendable, Equatable {
        /// The line that it begins on, from 1; quoted fields may run over several.
        package var line: Int
        package var fields: [String]
    }

    package enum Item: Sendable, Equatable {
        case record(Record)
        /// A line that is no CSV; reading goes on behind it.
        case malformed(line: Int, message: String)
    }

    /// Longer records are refused: a quote that is never closed must not swallow the file.
    package static let maximumRecordBytes = 1_048_576

    private var buffer: [UInt8] = []
    private var position = 0
    private var line = 1
    private var isComplete = false
    private var isStarted = false
    private var given = 0..<0

    package init() {}

    /// The item that was given last, as it stands in the file, line end included. Until the next chunk is fed.
    package var text: ArraySlice<UInt8> { buffer[given] }

    package mutating func feed(_ chunk: [UInt8]) {
        buffer.removeSubrange(..<position)
        position = 0
        given = 0..<0
        buffer.append(contentsOf: chunk)
    }

    /// No chunk follows.
    package mutating func finish() { isComplete = true }

    /// The next record; nil = feed more, or after `finish`, the end. Empty lines are passed over.
    package mutating func next() -> Item? {
        guard isStarted || start() else { return nil }
        while true {
            guard position < buffer.count else { return nil }
            let start = position
            defer { given = start..<position }
            switch scan() {
            case .record(let fields):
                defer { line += newlines(in: start..<position) }
                if fields == [""] { break }  // an empty line
                return .record(Record(line: line, fields: fields))
            case .incomplete:
                position = start
                guard isComplete || buffer.count - start > Self.maximumRecordBytes else { return nil }
                return malformed(from: start, "A quote is not closed, or the record is longer than a MiB.")
            case .malformed(let message):
                return malformed(from: start, message)
            }
        }
    }

    private enum Scan {
        case record([String])
        case incomplete
        case malformed(String)
    }

    /// Passes over a byte order mark.
    /// - Returns: false while it may still come.
    private mutating func start() -> Bool {
        guard buffer.count >= 3 || isComplete else { return false }
        isStarted = true
        if buffer.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        return true
    }

    /// Reads from `position` up to behind the record's line end.
    private mutating func scan() -> Scan {
        var fields: [String] = []
        fields.reserveCapacity(16)
        while true {
            let field = position < buffer.count && buffer[position] == UInt8(ascii: "\"") ? quoted() : unquoted()
            guard case .field(let text) = field else {
                return field == .incomplete ? .incomplete : .malformed(field.message)
            }
            fields.append(text)
            switch separator() {
            case .comma: continue
            case .recordEnd: return .record(fields)
            case .incomplete: return .incomplete
            case .other: return .malformed("Something follows a closing quote, or a carriage return stands alone.")
            }
        }
    }

    private enum Field: Equatable {
        case field(String)
        case incomplete
        case malformed(String)

        var message: String { if case .malformed(let message) = self { message } else { "" } }
    }

    private static let notUTF8 = Field.malformed("The line is not UTF-8.")

    private mutating func unquoted() -> Field {
        let start = position
        let end = endOfUnquoted(from: start)
        guard end < buffer.count || isComplete else { return .incomplete }
        if end < buffer.count, buffer[end] == UInt8(ascii: "\"") {
            return .malformed("A quote stands within a field that does not begin with one.")
        }
        position = end
        return Self.field(buffer.span.extracting(start..<end))
    }

    private func endOfUnquoted(from start: Int) -> Int {
        let bytes = buffer.span
        for index in start..<bytes.count {
            switch bytes[index] {
            case UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\""): return index
            default: continue
            }
        }
        return bytes.count
    }

    /// A field in quotes, in which two quotes stand for one.
    private mutating func quoted() -> Field {
        let quote = UInt8(ascii: "\"")
        var pieces: [UInt8]?
        var start = position + 1
        while true {
            let end = endOfQuoted(from: start)
            guard end < buffer.count else { return .incomplete }
            // Whether the quote is doubled shows with the byte behind it.
            guard end + 1 < buffer.count || isComplete else { return .incomplete }
            if end + 1 < buffer.count, buffer[end + 1] == quote {
                pieces = (pieces ?? []) + buffer[start...end]
                start = end + 2
                continue
            }
            position = end + 1
            guard let pieces else { return Self.field(buffer.span.extracting(start..<end)) }
            let joined = pieces + buffer[start..<end]
            return Self.field(joined.span)
        }
    }

    private static func field(_ bytes: Span<UInt8>) -> Field {
        guard let utf8 = try? UTF8Span(validating: bytes) else { return notUTF8 }
        return .field(String(copying: utf8))
    }

    private func endOfQuoted(from start: Int) -> Int {
        let bytes = buffer.span
        for index in start..<bytes.count where bytes[index] == UInt8(ascii: "\"") { return index }
        return bytes.count
    }

    private enum Separator { case comma, recordEnd, incomplete, other }

    private mutating func separator() -> Separator {
        guard position < buffer.count else { return isComplete ? .recordEnd : .incomplete }
        switch buffer[position] {
        case UInt8(ascii: ","):
            position += 1
            return .comma
        case UInt8(ascii: "\n"):
            position += 1
            return .recordEnd
        case UInt8(ascii: "\r"):
            guard position + 1 < buffer.count else {
                if isComplete { position += 1 }
                return isComplete ? .recordEnd : .incomplete
            }
            guard buffer[position + 1] == UInt8(ascii: "\n") else { return .other }
            position += 2
            return .recordEnd
        default: return .other
        }
    }

    /// Goes on with the line after the one that the record began on.
    private mutating func malformed(from start: Int, _ message: String) -> Item? {
        guard let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) else {
            guard isComplete || buffer.count - start > Self.maximumRecordBytes else {
                position = start  // the line's end is yet to come
                return nil
            }
            position = buffer.count
            return .malformed(line: line, message: message)
        }
        position = end + 1
        defer { line += 1 }
        return .malformed(line: line, message: message)
    }

    private func newlines(in range: Range<Int>) -> Int {
        let bytes = buffer.span
        var count = 0
        for index in range where bytes[index] == UInt8(ascii: "\n") { count += 1 }
        return count
    }
}
