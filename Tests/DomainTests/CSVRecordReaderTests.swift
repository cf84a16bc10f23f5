import Testing

@testable import Domain

struct CSVRecordReaderTests {
    @Test(
        arguments: [
            ("a,b\nc,d\n", [record(1, "a", "b"), record(2, "c", "d")]),
            ("a,b\r\nc,d", [record(1, "a", "b"), record(2, "c", "d")]),
            ("\"a,\"\"x\"\"\",\"b\r\nc\"\nd,\"\"\n", [record(1, "a,\"x\"", "b\r\nc"), record(3, "d", "")]),
            ("\u{FEFF}a\n\n\r\nb\n", [record(1, "a"), record(4, "b")]),
            ("a,\n,b\n,\n", [record(1, "a", ""), record(2, "", "b"), record(3, "", "")]),
            ("a\r", [record(1, "a")]), ("", []), ("é,\"日本\"", [record(1, "é", "日本")]),
            (
                "a\"b,c\nd\n",
                [
                    .malformed(line: 1, message: "A quote stands within a field that does not begin with one."),
                    record(2, "d"),
                ]
            ),
            (
                "\"a\"b\nc\n",
                [
                    .malformed(
                        line: 1, message: "Something follows a closing quote, or a carriage return stands alone."),
                    record(2, "c"),
                ]
            ),
            (
                "x\n\"a,\nb\n",
                [
                    record(1, "x"),
                    .malformed(line: 2, message: "A quote is not closed, or the record is longer than a MiB."),
                    record(3, "b"),
                ]
            ),
        ] as [(String, [CSVRecordReader.Item])])
    func `records are the same however the file is cut into chunks`(csv: String, expected: [CSVRecordReader.Item]) {
        for size in [1, 2, 3, 1000] { #expect(read(Array(csv.utf8), chunkSize: size) == expected, "chunks of \(size)") }
    }

    @Test func `a line that is not UTF-8 is named and passed over`() {
        let bytes = Array("a\nu-".utf8) + [0xC3, 0x28] + Array(",x\nb\n".utf8)
        #expect(
            read(bytes, chunkSize: 4) == [
                record(1, "a"), .malformed(line: 2, message: "The line is not UTF-8."), record(3, "b"),
            ])
    }

    @Test func `a quote that is never closed does not swallow the file`() {
        let rest = [UInt8](repeating: UInt8(ascii: "x"), count: CSVRecordReader.maximumRecordBytes)
        var reader = CSVRecordReader()
        reader.feed(Array("\"a\nb\n".utf8))
        #expect(reader.next() == nil)
        reader.feed(rest)
        #expect(
            reader.next() == .malformed(line: 1, message: "A quote is not closed, or the record is longer than a MiB."))
        #expect(reader.next() == record(2, "b"))
    }

    private func read(_ bytes: [UInt8], chunkSize: Int) -> [CSVRecordReader.Item] {
        var reader = CSVRecordReader()
        var items: [CSVRecordReader.Item] = []
        for start in stride(from: 0, to: bytes.count, by: chunkSize) {
            reader.feed(Array(bytes[start..<min(start + chunkSize, bytes.count)]))
            while let item = reader.next() { items.append(item) }
        }
        reader.finish()
        while let item = reader.next() { items.append(item) }
        return items
    }
}

/// As the table writes it.
private func record(_ line: Int, _ fields: String...) -> CSVRecordReader.Item {
    .record(CSVRecordReader.Record(line: line, fields: fields))
}
