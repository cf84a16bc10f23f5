/// Refusals of APNs by shares: of all tokens where the reason is the token's own, else of all requests. Who is hit follows
/// from seed, token and the number of its request.
struct APNsFaults: Sendable {
    let seed: UInt64
    private var shares: [(reason: APNsReason, share: Share)] = []

    init(seed: UInt64) {
        self.seed = seed
    }

    /// - Parameter name: Apple's.
    mutating func set(_ name: String, _ share: Share) throws(FaultSyntaxError) {
        guard let reason = APNsReason(rawValue: name) else {
            let names = APNsReason.allCases.map { "apns-\($0.rawValue)" }.joined(separator: ", ")
            throw FaultSyntaxError("no fault is named 'apns-\(name)'; there are \(names)")
        }
        shares.removeAll { $0.reason == reason }
        if !share.isNone { shares.append((reason, share)) }
    }

    /// - Parameter attempts: requests for the device before this one.
    func draw(device: UInt64, attempts: UInt32) -> APNsReason? {
        for (reason, share) in shares {
            let salt = seed ^ Hash64.hash(Array(reason.rawValue.utf8), seed: 0x200)
            let ofToken = Hash64.combine(salt, device)
            let draw = reason.isOfToken ? ofToken : Hash64.combine(ofToken, UInt64(attempts))
            if draw < share.threshold { return reason }
        }
        return nil
    }

    var fractions: [String: Double] {
        Dictionary(uniqueKeysWithValues: shares.map { ("apns-\($0.reason.rawValue)", $0.share.fraction) })
    }
}
