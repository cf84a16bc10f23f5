import Domain

/// A content version as FCM data messages (content model §11.2): one compiled body for each language.
struct FCMPreparedMessage: PreparedMessage {
    /// The body of the request for one language, ready but for what differs from job to job.
    struct Body: Sendable {
        /// The map key as the author spelled it; nil when silent.
        let language: String?
        let parts: [FCMBodyPart]
        /// What the literals weigh: a start for the size of the buffer.
        let literalBytes: Int
    }

    let bodies: [Body]
    /// nil when silent: there is one body.
    let resolver: LanguageResolver?

    /// Index into `bodies`.
    func body(for language: String?) -> Int { resolver?.resolve(language) ?? 0 }
}

/// One piece of a body, in order.
enum FCMBodyPart: Sendable {
    /// As it goes on the wire.
    case literal([UInt8])
    /// Escapes its values as its place demands.
    case template(CompiledTemplate)
    /// The subscriber's registration token.
    case token
    /// `JobIdentity.text`.
    case id
    /// Whole seconds.
    case ttl
    /// The object between these two may weigh `FCMPreparedMessage.maximumDataBytes`.
    case dataBegins
    case dataEnds
}

extension FCMPreparedMessage {
    /// FCM counts keys and values; the compact JSON of `message.data` errs on the safe side (fcm.md §5, D-25).
    static let maximumDataBytes = 4096

    /// What a token, an id and the values of placeholders add to the literals, as a rule: a guess that only saves a copy.
    static let usualVariableBytes = 320
}
