import Domain

/// A content version as APNs requests: one compiled body for each language, and the headers (content model §11.1).
struct APNsPreparedMessage: PreparedMessage {
    /// The body of the request for one language, ready but for what differs from job to job.
    struct Body: Sendable {
        /// The map key as the author spelled it; nil when silent.
        let language: String?
        let parts: [APNsBodyPart]
        /// What the literals weigh: a start for the size of the buffer.
        let literalBytes: Int
    }

    enum Expiration: Sendable {
        /// What is left of the message's life.
        case remaining
        /// One attempt, never stored.
        case immediate
        /// An override's own.
        case fixed([UInt8])
    }

    let bodies: [Body]
    /// nil when silent: there is one body.
    let resolver: LanguageResolver?
    let pushType: APNsPushType
    /// `1`, `5` or `10`.
    let priority: String
    let expiration: Expiration
    /// nil = the job's id, so that a repeat replaces itself.
    let collapseID: [UInt8]?

    /// Index into `bodies`.
    func body(for language: String?) -> Int { resolver?.resolve(language) ?? 0 }
}

/// One piece of a body, in order.
enum APNsBodyPart: Sendable {
    /// As it goes on the wire.
    case literal([UInt8])
    /// Within a JSON string.
    case template(CompiledTemplate)
    /// `JobIdentity.text`.
    case id
}

/// What a notification is for. Apple refuses a topic without the suffix that belongs to it (Apple: sending notification
/// requests to APNs).
enum APNsPushType: String, CaseIterable, Sendable {
    case alert
    case background
    case voip
    case complication
    case fileprovider
    case liveactivity
    case location
    case pushtotalk
    case widgets
    case controls
    case mdm

    var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// Bytes of a body.
    var maximumBytes: Int { self == .voip ? 5120 : 4096 }
}

extension APNsPreparedMessage {
    /// What an id and the values of placeholders add to the literals, as a rule: a guess that only saves a copy.
    private static let usualVariableBytes = 160

    /// The request's body for one job.
    /// - Returns: why nothing may be sent, if so.
    func render(_ job: OutgoingJob, body index: Int) -> (bytes: [UInt8], refusal: Reason?) {
        let body = bodies[index]
        var bytes: [UInt8] = []
        bytes.reserveCapacity(body.literalBytes + Self.usualVariableBytes)
        for part in body.parts {
            switch part {
            case .literal(let literal): bytes.append(contentsOf: literal)
            case .template(let template):
                if let reason = template.append(job.values, to: &bytes) { return (bytes, reason) }
            case .id:
                Decimal.append(job.identity.run.rawValue, to: &bytes)
                bytes.append(UInt8(ascii: "-"))
                Decimal.append(job.identity.number, to: &bytes)
            }
        }
        return (bytes, bytes.count > pushType.maximumBytes ? .payloadTooLarge : nil)
    }
}
