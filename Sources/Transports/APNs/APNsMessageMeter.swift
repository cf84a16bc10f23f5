import Domain

/// Weighs APNs bodies as the sender compiles them, with the longest id that a job can have: what fits here is refused for
/// its size only where a subscriber's own attributes added to it.
package struct APNsMessageMeter: MessageMeter {
    package init() {}

    package func sizes(of message: Message, delivery: DeliveryOptions) -> [SizeReport] {
        // Which row the content comes from does not show in what is sent.
        let content = ContentVersion(id: .init(0), message: message, delivery: delivery)
        let missing = [String?](repeating: nil, count: content.placeholderNames.count)
        let compiled = APNsMessageCompiler(content).compile()
        return compiled.bodies.map { body in
            SizeReport(
                transport: .apns, language: body.language, bytes: body.bytes(values: missing),
                limit: compiled.pushType.maximumBytes)
        }
    }
}

extension APNsPreparedMessage.Body {
    /// Text that may not go out is weighed as far as it can be written.
    fileprivate func bytes(values: [String?]) -> Int {
        let longestID = JobIdentity(run: .init(.max), number: .max).text
        var bytes: [UInt8] = []
        for part in parts {
            switch part {
            case .literal(let literal): bytes.append(contentsOf: literal)
            case .template(let template): _ = template.append(values, to: &bytes)
            case .id: bytes.append(contentsOf: longestID.utf8)
            }
        }
        return bytes.count
    }
}
