/// How long a provider asks to wait, as it writes it. Unreadable counts as absent; nothing is longer than 28 days, the
/// longest life of a message.
enum ProviderDelay {
    static let longest = Duration.seconds(2_419_200)

    /// `Retry-After`: seconds, or an HTTP-date (RFC 9110 §10.2.3).
    /// - Parameters:
    ///   - date: the answer's own `Date`, which a date is counted from, so that no clock of ours matters.
    ///   - now: seconds since 1970, for an answer without a readable `Date`.
    static func parse(retryAfter text: String, date: String?, now: Int64) -> Duration? {
        let text = trimmed(text)
        if let seconds = seconds(text) { return seconds }
        guard let until = HTTPDate.seconds(text) else { return nil }
        let from = date.flatMap { HTTPDate.seconds(trimmed($0)) } ?? now
        return min(longest, .seconds(max(0, until - from)))
    }

    /// `"30s"`, `"1.5s"`: a duration in the JSON mapping of protocol buffers. Rounded up to a whole second.
    static func parse(durationText: String) -> Duration? {
        guard durationText.hasSuffix("s") else { return nil }
        let number = durationText.dropLast().split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = number.first, let seconds = seconds(String(whole)) else { return nil }
        guard number.count == 2 else { return seconds }
        guard number[1].allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return number[1].contains { $0 != "0" } ? min(longest, seconds + .seconds(1)) : seconds
    }

    private static func seconds(_ text: String) -> Duration? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        // More digits than an integer holds are still a wish to wait.
        return Int64(text).map { min(longest, .seconds($0)) } ?? longest
    }

    private static func trimmed(_ text: String) -> String {
        String(text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
