import Domain

/// What goes to FCM for one recipient.
package struct FCMMessagePreview: MessagePreview {
    private let project: String
    private let endpoint: String

    /// - Parameter project: of the app's credential.
    package init(project: String = "<project>", endpoint: String = FCMConfiguration().endpoint) {
        self.project = project
        self.endpoint = endpoint
    }

    package var transport: TransportKind { .fcm }

    package func preview(of content: ContentVersion, for recipient: PreviewRecipient) -> RequestPreview? {
        let prepared = FCMMessageCompiler(content).compile()
        let index = prepared.body(for: recipient.language)
        let job = recipient.job(of: content)
        var bytes: [UInt8] = []
        let refusal = prepared.append(job, body: index, now: recipient.now, to: &bytes)
        return RequestPreview(
            method: "POST", url: "\(endpoint)/v1/projects/\(project)/messages:send",
            headers: [
                ("authorization", "Bearer <access token>"), ("content-type", "application/json; charset=UTF-8"),
            ],
            body: String(decoding: bytes, as: UTF8.self), bytes: prepared.weight(of: job, body: index),
            limit: FCMTarget(address: recipient.address.text).maximumBytes,
            language: prepared.bodies[index].language, refusal: refusal)
    }
}
