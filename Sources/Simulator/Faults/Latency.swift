import Glibc

/// How long answers take.
enum Latency: Equatable, Sendable {
    case none
    case fixed(Duration)
    /// Evenly around the middle.
    case uniform(Duration, plusMinus: Duration)
    /// Log-normal, as services are: half of the answers by `p50`, all but one in a hundred by `p99`.
    case logNormal(p50: Duration, p99: Duration)

    /// - Parameter text: `0ms`, `20ms`, `20ms±10ms` (or `20ms+-10ms`), or `20ms/150ms` for median and 99th percentile.
    init(parsing text: String) throws(FaultSyntaxError) {
        let text = text.replacing("+-", with: "±")
        if let mark = text.firstIndex(of: "±") {
            self = .uniform(
                try Self.duration(text[..<mark]), plusMinus: try Self.duration(text[text.index(after: mark)...]))
        } else if let slash = text.firstIndex(of: "/") {
            let (p50, p99) = (try Self.duration(text[..<slash]), try Self.duration(text[text.index(after: slash)...]))
            guard p50 > .zero, p99 >= p50 else {
                throw FaultSyntaxError("'\(text)': the median must be above 0 and at most the 99th percentile")
            }
            self = .logNormal(p50: p50, p99: p99)
        } else {
            let fixed = try Self.duration(text)
            self = fixed == .zero ? .none : .fixed(fixed)
        }
    }

    /// - Parameter draw: evenly distributed over all values.
    func draw(_ draw: UInt64) -> Duration {
        switch self {
        case .none: return .zero
        case .fixed(let fixed): return fixed
        case .uniform(let middle, let reach):
            return max(.zero, middle + reach * (Double(draw) / 0x1p63 - 1))
        case .logNormal(let p50, let p99):
            // Box and Muller's normal deviate; 2.326 is where the normal distribution reaches 99 %.
            let first = (Double(draw >> 32) + 1) / 0x1p32
            let second = Double(draw & 0xFFFF_FFFF) / 0x1p32
            let normal = sqrt(-2 * log(first)) * cos(2 * Double.pi * second)
            return p50 * exp(normal * log(p99 / p50) / 2.326)
        }
    }

    /// For a person.
    var text: String {
        switch self {
        case .none: "none"
        case .fixed(let fixed): "\(fixed)"
        case .uniform(let middle, let reach): "\(middle) ± \(reach)"
        case .logNormal(let p50, let p99): "\(p50) / \(p99)"
        }
    }

    /// A number with `us`, `ms` or `s`; not negative.
    static func duration(_ text: some StringProtocol) throws(FaultSyntaxError) -> Duration {
        for (suffix, seconds) in [("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1)] where text.hasSuffix(suffix) {
            if let value = Double(text.dropLast(suffix.count)), (0...86_400).contains(value) {
                return .seconds(value * seconds)
            }
            break
        }
        throw FaultSyntaxError("'\(text)' is no time; write 20ms or 1.5s")
    }
}
