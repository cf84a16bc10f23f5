/// What goes wrong with requests for access tokens, by shares of all of them (fcm.md §2).
struct OAuthFaults: Sendable {
    enum Fault: String, CaseIterable, Sendable {
        case status408 = "408"
        case status429 = "429"
        case status500 = "500"
        case status502 = "502"
        case status503 = "503"
        case status504 = "504"
        case internalFailure = "internal_failure"
        case serverError = "server_error"
        case temporarilyUnavailable = "temporarily_unavailable"
        case invalidGrant = "invalid_grant"
        case invalidClient = "invalid_client"
        case invalidScope = "invalid_scope"
        /// 200 without a token.
        case noToken = "notoken"
        case stall
    }

    let seed: UInt64
    private var shares: [Fault: Share] = [:]

    init(seed: UInt64) {
        self.seed = seed
    }

    mutating func set(_ name: String, _ share: Share) throws(FaultSyntaxError) {
        guard let fault = Fault(rawValue: name) else {
            let names = Fault.allCases.map { "oauth-\($0.rawValue)" }.joined(separator: ", ")
            throw FaultSyntaxError("no fault is named 'oauth-\(name)'; there are \(names)")
        }
        shares[fault] = share.isNone ? nil : share
    }

    /// - Parameter number: of the request, from 0.
    func draw(number: Int) -> Fault? {
        for (index, fault) in Fault.allCases.enumerated() {
            guard let share = shares[fault] else { continue }
            let draw = Hash64.combine(seed ^ UInt64(0x100 + index), UInt64(number))
            if draw < share.threshold { return fault }
        }
        return nil
    }

    var fractions: [String: Double] {
        Dictionary(uniqueKeysWithValues: shares.map { ("oauth-\($0.key.rawValue)", $0.value.fraction) })
    }
}
