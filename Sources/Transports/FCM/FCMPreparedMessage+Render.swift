import Domain

extension FCMPreparedMessage {
    /// Appends the request's body for one job: compact JSON.
    /// - Returns: why nothing may be sent; nil = it may. What was appended then is of no use.
    func append(_ job: OutgoingJob, body index: Int, to bytes: inout [UInt8]) -> Reason? {
        var dataStart = 0
        for part in bodies[index].parts {
            switch part {
            case .literal(let literal): bytes.append(contentsOf: literal)
            case .template(let template):
                if let reason = template.append(job.values, to: &bytes) { return reason }
            case .token: JSONBytes.append(job.address.text, escaping: .json, to: &bytes)
            case .id:
                Decimal.append(job.identity.run.rawValue, to: &bytes)
                bytes.append(UInt8(ascii: "-"))
                Decimal.append(job.identity.number, to: &bytes)
            case .ttl: Decimal.append(max(job.remainingSeconds, 0), to: &bytes)
            case .dataBegins: dataStart = bytes.count
            case .dataEnds:
                if bytes.count - dataStart > Self.maximumDataBytes { return .payloadTooLarge }
            }
        }
        return nil
    }
}

/// Numbers in decimal, without a String in between.
enum Decimal {
    static func append(_ value: Int64, to bytes: inout [UInt8]) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var start = 20
        var rest = value.magnitude
        repeat {
            start -= 1
            digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        for index in start..<20 { bytes.append(digits[index]) }
    }
}
