import Crypto
import Domain
import HTTP2

/// What goes to a browser's push service for one recipient; the body is what the browser reads.
package struct WebPushMessagePreview: MessagePreview {
    private let options: WebPushOptions
    private let publicKeys: [Credential.ID: String]
    private let newest: Credential.ID?

    /// - Parameters:
    ///   - options: those of the app's newest key.
    ///   - publicKeys: of the app's VAPID keys, by credential.
    ///   - newest: signs for subscriptions that name no key.
    package init(
        options: WebPushOptions = WebPushOptions(), publicKeys: [Credential.ID: String] = [:],
        newest: Credential.ID? = nil
    ) {
        self.options = options
        self.publicKeys = publicKeys
        self.newest = newest
    }

    package var transport: TransportKind { .webpush }

    package func preview(of content: ContentVersion, for recipient: PreviewRecipient) -> RequestPreview? {
        let message = WebPushMessageCompiler(content, options: options).compile()
        guard !message.bodies.isEmpty else { return nil }
        let index = message.body(for: recipient.language)
        let job = recipient.job(of: content)
        let service = WebPushService(rawValue: recipient.service) ?? .other
        var text: [UInt8] = []
        let refusal = message.append(job, body: index, to: &text)
        let shared = WebPushOrigin.fields(authorization(for: job.address), message.headers.urgency, service)
        return RequestPreview(
            method: "POST", url: job.address.text,
            headers: (shared + message.headers.fields(of: job, service)).map(\.shown),
            body: String(decoding: text, as: UTF8.self), bytes: text.count,
            limit: WebPushPreparedMessage.maximumBytes, language: message.bodies[index].language,
            refusal: refusal ?? self.refusal(of: job.address))
    }

    private func authorization(for address: Address) -> String {
        let key = (address.vapidKey ?? newest).flatMap { publicKeys[$0] }
        return "vapid t=<token>, k=\(key ?? "<public key>")"
    }

    /// Which hosts may be sent to is each worker's setting: it is not asked here.
    private func refusal(of address: Address) -> Reason? {
        if WebPushEndpoint(address.text) == nil { return .webpushEndpointRefused }
        return EncryptedContent.Recipient(address) == nil ? .webpushKeysInvalid : nil
    }
}
