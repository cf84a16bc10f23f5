/// Shows what a transport would send, made by the renderer that sends it. Each transport has one; a preview, like sending,
/// takes the content version as it is stored.
package protocol MessagePreview: Sendable {
    var transport: TransportKind { get }

    /// The request for one recipient, with secrets left out of its headers.
    /// - Returns: nil where nothing would be sent: a silent message to a browser.
    func preview(of content: ContentVersion, for recipient: PreviewRecipient) throws -> RequestPreview?
}

/// Whom a preview is for: a subscriber, or somebody made up who has no attributes.
package struct PreviewRecipient: Sendable {
    package var identity: JobIdentity
    /// Made up where nobody is named.
    package var address: Address
    package var language: String?
    /// By attribute.
    package var attributes: [String: String]
    /// What the message has to live, in whole seconds.
    package var remainingSeconds: Int64
    /// Seconds since 1970.
    package var now: Int64
    /// Web Push: whose push service it is, as routes have it; 0 = unknown.
    package var service: Int16

    package init(
        identity: JobIdentity, address: Address, language: String?, attributes: [String: String],
        remainingSeconds: Int64, now: Int64, service: Int16 = 0
    ) {
        self.identity = identity
        self.address = address
        self.language = language
        self.attributes = attributes
        self.remainingSeconds = remainingSeconds
        self.now = now
        self.service = service
    }

    package func job(of content: ContentVersion) -> OutgoingJob {
        OutgoingJob(
            ticket: Ticket(batch: 0, ordinal: 0), identity: identity, address: address, language: language,
            values: content.placeholderNames.map { attributes[$0] }, remainingSeconds: remainingSeconds)
    }
}

package struct RequestPreview: Sendable {
    package var method: String
    package var url: String
    /// In the order in which they are sent; what is secret reads `<…>`.
    package var headers: [(name: String, value: String)]
    /// What the provider gets; for Web Push what the browser reads, before encryption. Empty where rendering is refused.
    package var body: String
    /// What counts towards the transport's limit.
    package var bytes: Int
    package var limit: Int
    /// The variant that is sent, as the author spelled its key; nil when silent.
    package var language: String?
    /// Why nothing would be sent to this recipient.
    package var refusal: Reason?

    package init(
        method: String, url: String, headers: [(name: String, value: String)], body: String, bytes: Int, limit: Int,
        language: String?, refusal: Reason?
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        // What the renderer gave up stands there half written: nobody would ever get it.
        let isTorn = refusal == .renderedEmpty || refusal == .renderedURLInvalid
        self.body = isTorn ? "" : body
        self.bytes = isTorn ? 0 : bytes
        self.limit = limit
        self.language = language
        self.refusal = refusal
    }
}
