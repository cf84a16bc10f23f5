import Domain

/// A content version as the JSON that a service worker gets (content model §11.4): one compiled text for each language.
struct WebPushPreparedMessage: PreparedMessage {
    struct Body: Sendable {
        /// The map key as the author spelled it.
        let language: String
        let parts: [Part]
        /// What the literals weigh: a start for the size of the buffer.
        let literalBytes: Int
    }

    /// One piece of a text, in order.
    enum Part: Sendable {
        /// As it is sent.
        case literal([UInt8])
        case template(CompiledTemplate)
        /// `JobIdentity.text`.
        case id
    }

    /// What one push service takes: the longest plaintext of one record within 4,096 bytes (RFC 8291 §4).
    static let maximumBytes = 3993
    /// What an id and the values of placeholders add to the literals, as a rule: a guess that only saves a copy.
    static let usualVariableBytes = 160

    /// None when silent: a push without a notification takes the permission away.
    let bodies: [Body]
    let resolver: LanguageResolver?
    let headers: Headers

    /// What the requests of all subscribers share.
    struct Headers: Sendable {
        enum Urgency: String, CaseIterable, Sendable {
            case veryLow = "very-low"
            case low, normal, high
        }

        var urgency: Urgency
        /// nil = made from the job's id.
        var topic: [UInt8]?
        /// The author's own ceiling, in seconds.
        var longestLife: Int64?
    }

    /// Index into `bodies`.
    func body(for language: String?) -> Int { resolver?.resolve(language) ?? 0 }

    /// Appends the text for one job.
    /// - Returns: why nothing may be sent; nil = it may. What was appended then is of no use.
    func append(_ job: OutgoingJob, body index: Int, to bytes: inout [UInt8]) -> Reason? {
        for part in bodies[index].parts {
            switch part {
            case .literal(let literal): bytes.append(contentsOf: literal)
            case .template(let template):
                if let reason = template.append(job.values, to: &bytes) { return reason }
            case .id:
                Decimal.append(job.identity.run.rawValue, to: &bytes)
                bytes.append(UInt8(ascii: "-"))
                Decimal.append(job.identity.number, to: &bytes)
            }
        }
        return bytes.count > Self.maximumBytes ? .payloadTooLarge : nil
    }
}
