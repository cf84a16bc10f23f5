import Domain

/// Weighs FCM data messages as the sender compiles them, with the longest id that a job can have: what fits here is
/// refused for its size only where a subscriber's own attributes added to it.
package struct FCMMessageMeter: MessageMeter {
    package init() {}

    package func sizes(of message: Message, delivery: DeliveryOptions) -> [SizeReport] {
        // Which row the content comes from does not show in what is sent.
        let content = ContentVersion(id: .init(0), message: message, delivery: delivery)
        let missing = [String?](repeating: nil, count: content.placeholderNames.count)
        return FCMMessageCompiler(content).compile().bodies.map { body in
            SizeReport(
                transport: .fcm, language: body.language, bytes: body.dataBytes(values: missing),
                limit: FCMPreparedMessage.maximumDataBytes)
        }
    }
}

extension FCMPreparedMessage.Body {
    /// What `message.data` weighs. Text that may not go out is weighed as far as it can be written.
    fileprivate func dataBytes(values: [String?]) -> Int {
        let longestID = JobIdentity(run: .init(.max), number: .max).text.utf8.count
        var bytes: [UInt8] = []
        var start = 0
        var end = 0
        for part in parts {
            switch part {
            case .literal(let literal): bytes.append(contentsOf: literal)
            case .template(let template): _ = template.append(values, to: &bytes)
            case .id: bytes.append(contentsOf: repeatElement(UInt8(ascii: "9"), count: longestID))
            case .token, .ttl: break  // outside the data
            case .dataBegins: start = bytes.count
            case .dataEnds: end = bytes.count
            }
        }
        return end - start
    }
}
