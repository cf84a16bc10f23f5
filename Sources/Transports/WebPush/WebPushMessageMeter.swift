import Domain

/// Weighs Web Push messages as the sender compiles them, with the longest id that a job can have.
package struct WebPushMessageMeter: MessageMeter {
    /// Firefox for Android goes over a bridge with a lower ceiling.
    package static let bridgeBytes = 2600

    private let options: WebPushOptions

    /// - Parameter options: those of the app's newest key.
    package init(options: WebPushOptions = WebPushOptions()) { self.options = options }

    package func sizes(of message: Message, delivery: DeliveryOptions) -> [SizeReport] {
        // Which row the content comes from does not show in what is sent.
        let content = ContentVersion(id: .init(0), message: message, delivery: delivery)
        let missing = [String?](repeating: nil, count: content.placeholderNames.count)
        return WebPushMessageCompiler(content, options: options).compile().bodies.map { body in
            SizeReport(
                transport: .webpush, language: body.language, bytes: body.bytes(values: missing),
                limit: WebPushPreparedMessage.maximumBytes)
        }
    }
}

extension WebPushPreparedMessage.Body {
    /// Text that may not go out is weighed as far as it can be written.
    fileprivate func bytes(values: [String?]) -> Int {
        let longestID = JobIdentity(run: .init(.max), number: .max).text.utf8.count
        var bytes: [UInt8] = []
        for part in parts {
            switch part {
            case .literal(let literal): bytes.append(contentsOf: literal)
            case .template(let template): _ = template.append(values, to: &bytes)
            case .id: bytes.append(contentsOf: repeatElement(UInt8(ascii: "9"), count: longestID))
            }
        }
        return bytes.count
    }
}
