import Domain

extension FCMPreparedMessage {
    /// Appends the request's body for one job: compact JSON.
    /// - Parameter now: seconds since 1970.
    /// - Returns: why nothing may be sent; nil = it may. What was appended then is of no use.
    func append(_ job: OutgoingJob, body index: Int, now: Int64, to bytes: inout [UInt8]) -> Reason? {
        let start = bytes.count
        let body = bodies[index]
        let reason = Self.append(body.parts, job, now, to: &bytes)
        guard reason == .payloadTooLarge, let shorter = body.shorter else { return reason }
        bytes.removeSubrange(start...)
        return Self.append(shorter, job, now, to: &bytes)
    }

    private static func append(
        _ parts: [FCMBodyPart], _ job: OutgoingJob, _ now: Int64, to bytes: inout [UInt8]
    ) -> Reason? {
        var weight = FCMWeight()
        let target = FCMTarget(address: job.address.text)
        for part in parts {
            switch part {
            case .literal(let literal): bytes.append(contentsOf: literal)
            case .template(let template):
                if let reason = template.append(job.values, to: &bytes) { return reason }
            case .target: target.append(job.address.text, to: &bytes)
            case .id: appendID(job.identity, to: &bytes)
            case .ttl: Decimal.append(max(job.remainingSeconds, 0), to: &bytes)
            case .expiry: Decimal.append(job.remainingSeconds > 0 ? now + job.remainingSeconds : 0, to: &bytes)
            case .httpsLink(let before, let template, let after):
                if let reason = appendLink(template, job.values, before, after, to: &bytes) { return reason }
            case .begins: weight.begin(at: bytes.count)
            case .ends(let share): weight.end(share, at: bytes.count)
            }
        }
        return weight.bytes > target.maximumBytes ? .payloadTooLarge : nil
    }

    private static func appendID(_ identity: JobIdentity, to bytes: inout [UInt8]) {
        Decimal.append(identity.run.rawValue, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        Decimal.append(identity.number, to: &bytes)
    }

    /// - Returns: why the job must be refused; a link that is left out is no reason.
    static func appendLink(
        _ template: CompiledTemplate, _ values: [String?], _ before: [UInt8], _ after: [UInt8],
        to bytes: inout [UInt8]
    ) -> Reason? {
        let start = bytes.count
        bytes.append(contentsOf: before)
        let linkStart = bytes.count
        if let reason = template.append(values, to: &bytes) { return reason }
        if isHTTPS(bytes.span.extracting(linkStart...)) {
            bytes.append(contentsOf: after)
        } else {
            bytes.removeSubrange(start...)
        }
        return nil
    }

    private static let https = Array("https://".utf8)

    private static func isHTTPS(_ link: Span<UInt8>) -> Bool {
        guard link.count > https.count else { return false }
        for index in https.indices where link[index] | 0x20 != https[index] | 0x20 { return false }
        return true
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
