/// A share of requests, from none to all.
struct Share: Equatable, Sendable {
    /// A draw below it is within the share.
    let threshold: UInt64

    static let none = Share(threshold: 0)

    /// - Parameter text: `0.5%`, `1/20000` or `0.005`.
    init(parsing text: some StringProtocol) throws(FaultSyntaxError) {
        let value: Double?
        if text.hasSuffix("%") {
            value = Double(text.dropLast()).map { $0 / 100 }
        } else if let slash = text.firstIndex(of: "/") {
            let divisor = Double(text[text.index(after: slash)...]) ?? 0
            value = divisor > 0 ? Double(text[..<slash]).map { $0 / divisor } : nil
        } else {
            value = Double(text)
        }
        guard let value, (0...1).contains(value) else {
            throw FaultSyntaxError("'\(text)' is no share from 0 to 1; write 0.5%, 1/20000 or 0.005")
        }
        threshold = value == 1 ? .max : UInt64(value * 0x1p64)
    }

    private init(threshold: UInt64) {
        self.threshold = threshold
    }

    var isNone: Bool { threshold == 0 }
    var fraction: Double { Double(threshold) / 0x1p64 }
}

/// A fault, latency, rate or script that cannot be read; the text says what to write instead.
struct FaultSyntaxError: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
