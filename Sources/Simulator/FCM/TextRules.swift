/// What strings of the send request must look like. Plain scans: they run for every request.
enum TextRules {
    static func check(
        _ text: JSONText, _ check: FieldRule.TextCheck, _ scanner: JSONScanner
    ) throws(Violation) {
        switch check {
        case .any: return
        case .token: if !isToken(scanner.content(text)) { throw Violation.badToken }
        case .topic: if !isLabel(scanner.content(text), 900) { throw Violation.badValue("Invalid topic name.") }
        case .condition:
            if !TopicCondition.isValid(Array(scanner.content(text))) { throw Violation.badValue("Invalid condition.") }
        case .analyticsLabel:
            if !isLabel(scanner.content(text), 50) { throw Violation.badValue("Invalid analytics label.") }
        case .color: if !isColor(scanner.content(text)) { throw Violation.badValue("Not of the form #rrggbb.") }
        case .httpsURL: if !isHTTPS(scanner.content(text)) { throw Violation.badValue("HTTPS is required.") }
        case .timestamp: if !isTimestamp(scanner.content(text)) { throw Violation.badValue("Not RFC 3339.") }
        case .duration:
            guard milliseconds(scanner.content(text)) != nil else { throw Violation.badValue("Not a duration.") }
        case .timeToLive:
            guard let span = milliseconds(scanner.content(text)) else { throw Violation.badValue("Invalid ttl.") }
            guard span <= 2_419_200_000 else { throw Violation.badValue("Out of range.") }
        }
    }

    /// A token is opaque, but never empty, and has visible ASCII only.
    static func isToken(_ text: ArraySlice<UInt8>) -> Bool {
        guard !text.isEmpty, text.count <= 4096 else { return false }
        for byte in text where byte <= 0x20 || byte >= 0x7F { return false }
        return true
    }

    /// `[a-zA-Z0-9-_.~%]{1,limit}`
    static func isLabel(_ text: ArraySlice<UInt8>, _ limit: Int) -> Bool {
        (1...limit).contains(text.count) && text.allSatisfy(isLabelByte)
    }

    static func isLabelByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "~"), UInt8(ascii: "%"):
            true
        default: false
        }
    }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// `#rrggbb`
    static func isColor(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count == 7, text.first == UInt8(ascii: "#") else { return false }
        return text.dropFirst().allSatisfy { byte in
            isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
        }
    }

    static func isHTTPS(_ text: ArraySlice<UInt8>) -> Bool {
        let scheme = Array("https://".utf8)
        guard text.count > scheme.count, text.starts(with: scheme) else { return false }
        return text[text.startIndex + scheme.count] != UInt8(ascii: "/")
    }

    /// `^[0-9]{1,12}(\.[0-9]{1,9})?s$` (protobuf Duration), in milliseconds rounded up, so that a limit stays one.
    static func milliseconds(_ text: ArraySlice<UInt8>) -> Int? {
        guard text.last == UInt8(ascii: "s") else { return nil }
        let parts = text.dropLast().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= 2, (1...12).contains(parts[0].count), parts[0].allSatisfy(isDigit) else { return nil }
        let seconds = parts[0].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        guard parts.count == 2 else { return seconds * 1000 }
        guard (1...9).contains(parts[1].count), parts[1].allSatisfy(isDigit) else { return nil }
        let padded = parts[1] + [UInt8](repeating: UInt8(ascii: "0"), count: 9 - parts[1].count)
        let nanoseconds = padded.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return seconds * 1000 + (nanoseconds + 999_999) / 1_000_000
    }

    /// RFC 3339, upper case, as the JSON mapping of protobuf's Timestamp has it.
    static func isTimestamp(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        func take(_ pattern: String) -> Bool {
            guard rest.count >= pattern.utf8.count else { return false }
            for (expected, byte) in zip(pattern.utf8, rest) {
                guard expected == UInt8(ascii: "0") ? isDigit(byte) : expected == byte else { return false }
            }
            rest = rest.dropFirst(pattern.utf8.count)
            return true
        }
        let fields = text
        guard take("0000-00-00T00:00:00"), inRange(fields) else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            let digits = rest.prefix(while: isDigit)
            guard (1...9).contains(digits.count) else { return false }
            rest = rest.dropFirst(digits.count)
        }
        if rest.elementsEqual("Z".utf8) { return true }
        return rest.count == 6 && (take("+00:00") || take("-00:00")) && rest.isEmpty
    }

    /// Month, day, hour, minute and second of `yyyy-mm-ddThh:mm:ss`.
    private static func inRange(_ text: ArraySlice<UInt8>) -> Bool {
        let limits = [(5, 1...12), (8, 1...31), (11, 0...23), (14, 0...59), (17, 0...60)]
        return limits.allSatisfy { offset, limit in
            let index = text.startIndex + offset
            return limit.contains(Int(text[index]) * 10 + Int(text[index + 1]) - 11 * Int(UInt8(ascii: "0")))
        }
    }
}
