import Domain

/// A content version as FCM messages (content model §11.2, §11.3): one compiled body for each language.
struct FCMPreparedMessage: PreparedMessage {
    /// The body of the request for one language, ready but for what differs from job to job.
    struct Body: Sendable {
        /// The map key as the author spelled it; nil when silent.
        let language: String?
        let parts: [FCMBodyPart]
        /// The same with the channel described in the fewest words, for when bytes are short; nil = there is no shorter.
        var shorter: [FCMBodyPart]?
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
    /// The member of `message` that says where it goes.
    case target
    /// `JobIdentity.text`.
    case id
    /// Whole seconds that are left.
    case ttl
    /// When they are over, in whole seconds since 1970; 0 = now or never.
    case expiry
    /// A member that is left out unless the link comes out as one that browsers open from a push: https.
    case httpsLink(before: [UInt8], CompiledTemplate, after: [UInt8])
    /// What stands between these two counts towards a limit.
    case begins
    case ends(FCMWeight.Share)
}

/// What a body weighs, as FCM is taken to count: the compact JSON of `data` and of both notification blocks, where
/// Android's own `data` replaces the common one; and what it hands on to Apple, for itself. FCM says only that keys and
/// values count, so this errs on the safe side (D-25).
struct FCMWeight {
    enum Share: Int, Sendable { case data, androidData, notification, androidNotification, applePayload }

    private var start = 0
    private var sizes = InlineArray<5, Int>(repeating: 0)

    mutating func begin(at position: Int) { start = position }
    mutating func end(_ share: Share, at position: Int) { sizes[share.rawValue] = position - start }

    private func size(_ share: Share) -> Int { sizes[share.rawValue] }

    /// The one of the two that is nearer to its limit.
    var bytes: Int {
        let payload =
            max(size(.data), size(.androidData)) + size(.notification) + size(.androidNotification)
        return max(payload, size(.applePayload))
    }
}

extension FCMPreparedMessage {
    static let maximumBytes = 4096

    /// What a token, an id and the values of placeholders add to the literals, as a rule: a guess that only saves a copy.
    static let usualVariableBytes = 320
}
