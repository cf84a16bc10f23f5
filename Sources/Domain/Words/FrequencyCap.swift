/// How often a user may be disturbed: `most` messages within any `window`, across campaigns and devices.
package struct FrequencyCap: Equatable, Sendable {
    package static let counts = 1...1000
    package static let windows = Duration.seconds(60)...Duration.seconds(31 * 86_400)

    package let most: Int
    package let window: Duration

    /// As it is written: a count, `/`, and a span in minutes, hours or days, such as `3/24h` or `10/7d`.
    /// - Returns: nil for anything else, or what is out of range.
    package init?(_ text: String) {
        guard let match = text.wholeMatch(of: /([0-9]{1,4})\/([0-9]{1,5})([mhd])/), let most = Int(match.1),
            let count = Int64(match.2)
        else { return nil }
        let unit: Int64 =
            switch match.3 {
            case "m": 60
            case "h": 3600
            default: 86_400
            }
        let window = Duration.seconds(count * unit)
        guard Self.counts.contains(most), Self.windows.contains(window) else { return nil }
        self.most = most
        self.window = window
    }
}
