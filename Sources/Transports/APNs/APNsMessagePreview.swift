import Domain
import HTTP2

/// What goes to APNs for one recipient.
package struct APNsMessagePreview: MessagePreview {
    private let topic: String
    private let scope: APNsKey.Scope
    private let production: String
    private let sandbox: String

    /// - Parameters:
    ///   - topic: the app's bundle id, of its credential.
    ///   - environment: that the key is for: `both`, `production` or `sandbox`.
    ///   - endpoint: in place of both of Apple's hosts.
    ///   - keyFile: path of the credential file: where it lies on this machine, it says itself where requests go.
    package init(
        topic: String = "<topic>", environment: String? = nil, endpoint: String? = nil, keyFile: String? = nil
    ) {
        let key = keyFile.flatMap { try? APNsKeyReading(path: $0).key }
        self.topic = key?.topic ?? topic
        scope = key?.scope ?? environment.flatMap { APNsKey.Scope(rawValue: $0) } ?? .both
        production = key?.productionEndpoint ?? endpoint ?? APNsConfiguration.production
        sandbox = key?.sandboxEndpoint ?? endpoint ?? APNsConfiguration.sandbox
    }

    package var transport: TransportKind { .apns }

    package func preview(of content: ContentVersion, for recipient: PreviewRecipient) -> RequestPreview? {
        let message = APNsMessageCompiler(content).compile()
        let index = message.body(for: recipient.language)
        let job = recipient.job(of: content)
        let now = Instant(microseconds: recipient.now * 1_000_000)
        let rendering = APNsRendering([job], of: message, scope: scope, now: now)
        let body = message.render(job, body: index).bytes
        let shared = APNsRendering.sharedFields(of: message, topic: topic, authorization: "bearer <provider token>")
        let path = (rendering.production + rendering.sandbox).first.map { String(decoding: $0.path, as: UTF8.self) }
        return RequestPreview(
            method: "POST",
            url: host(of: recipient.address, rendering) + (path ?? "/3/device/\(recipient.address.text)"),
            headers: (shared + APNsRendering.fields(of: job, message, now)).map(\.shown),
            body: String(decoding: body, as: UTF8.self), bytes: body.count, limit: message.pushType.maximumBytes,
            language: message.bodies[index].language, refusal: rendering.refused.first?.refusal)
    }

    private func host(of address: Address, _ rendering: APNsRendering) -> String {
        let isSandbox = rendering.production.isEmpty && (!rendering.sandbox.isEmpty || address.environment == .sandbox)
        return isSandbox ? sandbox : production
    }
}

extension SendResult {
    /// Why a job was refused before anything was sent.
    fileprivate var refusal: Reason? {
        switch fate {
        case .notSent(let reason), .mayHaveLeft(let reason): reason
        case .tryAgain: nil
        case .answered(let answer): answer.reason
        }
    }
}

extension HTTP2Field {
    /// For a person to read.
    var shown: (name: String, value: String) { ("\(name)", String(decoding: value, as: UTF8.self)) }
}
