/// Which share of requests goes wrong, and how.
///
/// Who is hit follows from seed, token and the number of the token's request, not from the order in which requests
/// come, so that a run replays however its connections interleave.
struct FaultRates: Sendable {
    private let seed: UInt64
    private var shares: [Fault: Share] = [:]
    /// Share of tokens whose first request is answered 503.
    private var transient = Share.none
    /// Cumulated thresholds, in a fixed order.
    private var ofTokens: [(below: UInt64, fault: Fault)] = []
    private var ofRequests: [(below: UInt64, fault: Fault)] = []

    init(seed: UInt64) {
        self.seed = seed
    }

    /// The fault for a request, nil if none.
    /// - Parameter attempts: requests for the device before this one.
    func draw(device: UInt64, attempts: UInt32) -> Fault? {
        if !ofTokens.isEmpty, let fault = Self.pick(Hash64.combine(seed ^ 1, device), ofTokens) { return fault }
        if attempts == 0, !transient.isNone, Hash64.combine(seed ^ 2, device) < transient.threshold { return .e503 }
        if ofRequests.isEmpty { return nil }
        return Self.pick(Hash64.combine(Hash64.combine(seed ^ 3, device), UInt64(attempts)), ofRequests)
    }

    /// Sets the shares that `text` names and leaves the others: `e503=0.5%,goaway=1/20000`. `none` clears all.
    mutating func set(_ text: some StringProtocol) throws(FaultSyntaxError) {
        var changed = self
        for part in text.split(separator: ",") {
            let part = String(part.filter { $0 != " " })
            if part == "none" {
                changed = FaultRates(seed: seed)
                continue
            }
            let sides = part.split(separator: "=", maxSplits: 1)
            guard sides.count == 2 else { throw FaultSyntaxError("'\(part)' is no fault; write name=share") }
            let share = try Share(parsing: sides[1])
            if sides[0] == "transient" {
                changed.transient = share
            } else if let fault = Fault(rawValue: String(sides[0])) {
                changed.shares[fault] = share.isNone ? nil : share
            } else {
                throw FaultSyntaxError("no fault is named '\(sides[0])'; there are \(Self.names)")
            }
        }
        try changed.cumulate()
        self = changed
    }

    /// By name, as fractions.
    var fractions: [String: Double] {
        var fractions = Dictionary(uniqueKeysWithValues: shares.map { ($0.key.rawValue, $0.value.fraction) })
        if !transient.isNone { fractions["transient"] = transient.fraction }
        return fractions
    }

    static let names = (Fault.allCases.map(\.rawValue) + ["transient"]).joined(separator: ", ")

    /// Far less than one request in a billion.
    private static let rounding: UInt64 = 1 << 24

    private mutating func cumulate() throws(FaultSyntaxError) {
        (ofTokens, ofRequests) = ([], [])
        for fault in Fault.allCases {
            guard let share = shares[fault] else { continue }
            let before = (fault.isOfToken ? ofTokens : ofRequests).last?.below ?? 0
            var (below, isBeyond) = before.addingReportingOverflow(share.threshold)
            // All requests are one more than the number that can be said, and shares are rounded.
            if isBeyond, below <= Self.rounding { (below, isBeyond) = (.max, false) }
            if isBeyond { throw FaultSyntaxError("the shares add up to more than all requests") }
            if fault.isOfToken { ofTokens.append((below, fault)) } else { ofRequests.append((below, fault)) }
        }
    }

    private static func pick(_ draw: UInt64, _ table: [(below: UInt64, fault: Fault)]) -> Fault? {
        for (below, fault) in table where draw < below { return fault }
        return nil
    }
}
