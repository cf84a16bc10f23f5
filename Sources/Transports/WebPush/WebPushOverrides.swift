import Domain

/// What an author's block `webpush` of the FCM v1 message says about direct Web Push: headers and notification options.
struct WebPushOverrides {
    private(set) var urgency: WebPushPreparedMessage.Headers.Urgency?
    private(set) var topic: [UInt8]?
    private(set) var ttl: Int64?
    /// Members that win over what the content gives.
    private(set) var notification: [String: JSONValue] = [:]

    init(_ overrides: Overrides) {
        guard case .object(let block)? = overrides.webpush else { return }
        if case .object(let members)? = block["notification"] {
            // What a device tells repeats by is the job's.
            notification = members.filter { $0.key != "id" }
        }
        guard case .object(let headers)? = block["headers"] else { return }
        for (name, value) in headers {
            guard case .string(let text) = value else { continue }
            switch name.lowercased() {
            case "urgency": urgency = .init(rawValue: text.lowercased())
            case "topic": topic = WebPushTopic.of(text)
            case "ttl": ttl = Int64(text).flatMap { $0 >= 0 ? $0 : nil }
            default: break  // no push service reads any other
            }
        }
    }
}
