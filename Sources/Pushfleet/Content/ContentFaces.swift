import Domain
import QueueStore
import Transports

/// What each transport shows of a message before it is sent: one line for each.
struct ContentFaces {
    /// What the app defines; without a database, nothing.
    let channels: [AndroidChannel]
    private let credentials: [AppContentSettings.Credential]

    init() { (channels, credentials) = ([], []) }
    init(_ settings: AppContentSettings) { (channels, credentials) = (settings.channels, settings.credentials) }

    func channel(of message: Message) -> AndroidChannel? {
        channels.first { $0.id == message.presentation.channelId }
    }

    func meters(_ message: Message) -> [any MessageMeter] {
        [
            FCMMessageMeter(channel: channel(of: message)), APNsMessageMeter(),
            WebPushMessageMeter(options: webPushOptions),
        ]
    }

    var previews: [any MessagePreview] {
        let (firebase, apple) = (newest(.fcm), newest(.apns))
        return [
            FCMMessagePreview(
                project: firebase?.facts["project_id"] ?? "<project>",
                endpoint: firebase?.endpoint ?? FCMConfiguration().endpoint),
            APNsMessagePreview(
                topic: apple?.facts["topic"] ?? "<topic>", environment: apple?.facts["environment"],
                endpoint: apple?.endpoint, keyFile: apple?.file),
            WebPushMessagePreview(
                options: webPushOptions, publicKeys: publicKeys, newest: newest(.webpush)?.id),
        ]
    }

    private func newest(_ transport: TransportKind) -> AppContentSettings.Credential? {
        credentials.last { $0.transport == transport }
    }

    private var webPushOptions: WebPushOptions { WebPushOptions(facts: newest(.webpush)?.facts ?? [:]) }

    private var publicKeys: [Credential.ID: String] {
        Dictionary(
            uniqueKeysWithValues: credentials.compactMap { credential in
                guard credential.transport == .webpush, let key = credential.facts["public_key"] else { return nil }
                return (credential.id, key)
            })
    }
}

extension ContentFaces: MessageMeter {
    func sizes(of message: Message, delivery: DeliveryOptions) -> [SizeReport] {
        meters(message).flatMap { $0.sizes(of: message, delivery: delivery) }
    }
}
