import Domain
import Transports

/// What each transport shows of a message before it is sent: one line for each.
struct ContentFaces {
    /// What the app defines; without a database, nothing.
    var channels: [AndroidChannel] = []
    var projectID: String?
    var fcmEndpoint: String?

    func meters(_ message: Message) -> [any MessageMeter] {
        let channel = channels.first { $0.id == message.presentation.channelId }
        return [
            FCMMessageMeter(channel: channel), APNsMessageMeter(), WebPushMessageMeter(),
        ]
    }

    var previews: [any MessagePreview] {
        [
            FCMMessagePreview(
                project: projectID ?? "<project>", endpoint: fcmEndpoint ?? FCMConfiguration().endpoint)
        ]
    }
}

extension ContentFaces: MessageMeter {
    func sizes(of message: Message, delivery: DeliveryOptions) -> [SizeReport] {
        meters(message).flatMap { $0.sizes(of: message, delivery: delivery) }
    }
}
