/// Rows in aligned columns; numbers to the right.
struct TextTable {
    private let header: [String]
    private var rows: [[String]] = []
    private let rightAligned: Set<Int>

    init(_ header: [String], right: Set<Int> = []) {
        self.header = header
        rightAligned = right
    }

    mutating func add(_ row: [String]) { rows.append(row) }

    var text: String {
        let all = [header] + rows
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { line($0, widths) }.joined(separator: "\n") + "\n"
    }

    private func line(_ row: [String], _ widths: [Int]) -> String {
        let cells = row.enumerated().map { column, cell in
            let padding = String(repeating: " ", count: widths[column] - cell.count)
            return rightAligned.contains(column) ? padding + cell : cell + padding
        }
        return trimmedRight(cells.joined(separator: "  "))
    }

    private func trimmedRight(_ text: String) -> String {
        var text = Substring(text)
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}

/// 1234567 as 1,234,567.
func grouped(_ number: Int64) -> String {
    let digits = String(number.magnitude)
    var text = ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index) % 3 == 0 { text += "," }
        text.append(digit)
    }
    return number < 0 ? "-" + text : text
}

/// 75 s as 1m15s.
func short(_ span: Duration) -> String {
    let seconds = span.components.seconds
    if seconds < 60 { return "\(seconds)s" }
    if seconds < 3600 { return "\(seconds / 60)m\(twoDigits(seconds % 60))s" }
    return "\(seconds / 3600)h\(twoDigits(seconds / 60 % 60))m"
}

private func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
