import FoundationEssentials

/// Wilson's score interval of a share at 95 % (E. B. Wilson, JASA 22 (1927); NIST/SEMATECH handbook 7.2.4.1): holds for
/// small samples and shares near 0 and 1.
package struct ProportionInterval: Sendable, Codable, Equatable {
    package var share: Double
    package var low: Double
    package var high: Double

    /// - Returns: nil for no trials.
    package init?(successes: Int64, of trials: Int64) {
        guard trials > 0, 0...trials ~= successes else { return nil }
        let z = 1.959963984540054
        let n = Double(trials)
        share = Double(successes) / n
        let middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        let half = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)).squareRoot()
        low = max(0, middle - half)
        high = min(1, middle + half)
    }
}
