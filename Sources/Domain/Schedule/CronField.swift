/// One field of a cron expression.
struct CronField {
    let range: ClosedRange<Int>
    /// Words for its numbers, from `range.lowerBound` on.
    let names: [String]

    static let minute = CronField(range: 0...59, names: [])
    static let hour = CronField(range: 0...23, names: [])
    static let day = CronField(range: 1...31, names: [])
    static let month = CronField(
        range: 1...12,
        names: ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"])
    static let weekday = CronField(range: 0...7, names: ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"])

    /// A bit for each value; nil = malformed.
    func bits(of text: String) -> UInt64? {
        var bits: UInt64 = 0
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let values = values(of: item) else { return nil }
            for value in values { bits |= 1 << UInt64(value) }
        }
        return bits
    }

    /// `*`, `a`, `a-b`, each with `/step`; a step after one number goes on to the end.
    private func values(of item: Substring) -> StrideTo<Int>? {
        let parts = item.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        var step = 1
        if parts.count == 2 {
            guard let number = number(parts[1]), number > 0 else { return nil }
            step = number
        }
        // 7 is a second name of Sunday, which `*` and steps need not say again.
        let last = range.upperBound == 7 ? 6 : range.upperBound
        if parts[0] == "*" { return stride(from: range.lowerBound, to: last + 1, by: step) }
        let ends = parts[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let low = value(ends[0]) else { return nil }
        var high = parts.count == 2 ? max(low, last) : low
        if ends.count == 2 {
            guard let named = value(ends[1]) else { return nil }
            // FRI-SUN ends on the other name of Sunday.
            high = named == 0 && range.upperBound == 7 ? 7 : named
            guard high >= low else { return nil }
        }
        return stride(from: low, to: high + 1, by: step)
    }

    private func value(_ text: Substring) -> Int? {
        if let number = number(text) { return range.contains(number) ? number : nil }
        return names.firstIndex(of: text.uppercased()).map { $0 + range.lowerBound }
    }

    private func number(_ text: Substring) -> Int? {
        guard 1...3 ~= text.utf8.count, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            return nil
        }
        return Int(text)
    }
}
