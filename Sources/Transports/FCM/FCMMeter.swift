import Domain

/// Weighs FCM data messages with the renderer that sends them: the compact JSON of `message.data` (content model §9).
package struct FCMMeter: MessageMeter {
    package init() {}

    package func sizes(of message: Message, delivery: DeliveryOptions) -> [SizeReport] {
        let content = ContentVersion(id: .init(0), message: message, delivery: delivery)
        let prepared = FCMMessageCompiler(content).compile()
        // Ids as long as they are likely to become; every value missing, so that each placeholder takes its fallback.
        let job = OutgoingJob(
            ticket: Ticket(batch: 0, ordinal: 0), identity: JobIdentity(run: .init(999_999_999), number: 9_999_999_999),
            address: "", language: nil, values: [String?](repeating: nil, count: content.placeholderNames.count),
            remainingSeconds: 2_419_200)
        return prepared.bodies.indices.map { index in
            var bytes: [UInt8] = []
            var dataBytes = 0
            _ = prepared.render(job, body: index, to: &bytes, dataBytes: &dataBytes)
            return SizeReport(
                transport: .fcm, language: prepared.bodies[index].language, bytes: dataBytes,
                limit: FCMPreparedMessage.maximumDataBytes)
        }
    }
}
