import Domain

/// Weighs FCM messages as the sender compiles them, with the longest id that a job can have: what fits here is refused
/// for its size only where a subscriber's own attributes added to it.
package struct FCMMessageMeter: MessageMeter {
    private let channel: AndroidChannel?

    /// - Parameter channel: what the app defines under the message's `channelId`.
    package init(channel: AndroidChannel? = nil) { self.channel = channel }

    package func sizes(of message: Message, delivery: DeliveryOptions) -> [SizeReport] {
        // Which row the content comes from does not show in what is sent.
        let content = ContentVersion(id: .init(0), message: message, delivery: delivery, channel: channel)
        let missing = [String?](repeating: nil, count: content.placeholderNames.count)
        return FCMMessageCompiler(content).compile().bodies.map { body in
            let bytes = body.shorter ?? body.parts
            return SizeReport(
                transport: .fcm, language: body.language,
                bytes: bytes.weight(values: missing, id: JobIdentity(run: .init(.max), number: .max)),
                limit: FCMPreparedMessage.maximumBytes)
        }
    }
}

extension FCMPreparedMessage {
    /// What one job's message weighs, in the form in which it is sent.
    func weight(of job: OutgoingJob, body index: Int) -> Int {
        let weight = bodies[index].parts.weight(values: job.values, id: job.identity)
        guard weight > FCMTarget(address: job.address.text).maximumBytes, let shorter = bodies[index].shorter else {
            return weight
        }
        return shorter.weight(values: job.values, id: job.identity)
    }
}

extension [FCMBodyPart] {
    /// What counts towards the limit. Text that may not go out is weighed as far as it can be written.
    fileprivate func weight(values: [String?], id: JobIdentity) -> Int {
        var bytes: [UInt8] = []
        var weight = FCMWeight()
        for part in self {
            switch part {
            case .literal(let literal): bytes.append(contentsOf: literal)
            case .template(let template): _ = template.append(values, to: &bytes)
            case .httpsLink(let before, let template, let after):
                _ = FCMPreparedMessage.appendLink(template, values, before, after, to: &bytes)
            case .id: bytes.append(contentsOf: id.text.utf8)
            case .target, .ttl, .expiry: break  // outside what counts
            case .begins: weight.begin(at: bytes.count)
            case .ends(let share): weight.end(share, at: bytes.count)
            }
        }
        return weight.bytes
    }
}
