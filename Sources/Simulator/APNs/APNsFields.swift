import HTTP2

/// The header fields that APNs looks at.
struct APNsFields: Sendable {
    var topic: [UInt8]?
    var pushType: [UInt8]?
    var id: [UInt8]?
    var expiration: [UInt8]?
    var priority: [UInt8]?
    var collapseID: [UInt8]?
    /// One of them, or the token, stands there twice.
    var hasDuplicates = false
    /// Counts the connections of the server.
    var connection: UInt64 = 0
    /// The listener is that of the sandbox.
    var isSandbox = false

    init() {}

    init(_ request: HTTP2ServerRequest, isSandbox: Bool) {
        connection = request.connectionID
        self.isSandbox = isSandbox
        var tokens = 0
        for (name, value) in request.fields {
            switch name {
            case "apns-topic": take(value, \.topic)
            case "apns-push-type": take(value, \.pushType)
            case "apns-id": take(value, \.id)
            case "apns-expiration": take(value, \.expiration)
            case "apns-priority": take(value, \.priority)
            case "apns-collapse-id": take(value, \.collapseID)
            case "authorization": tokens += 1
            default: break
            }
        }
        if tokens > 1 { hasDuplicates = true }
    }

    private mutating func take(_ value: [UInt8], _ field: WritableKeyPath<APNsFields, [UInt8]?>) {
        if self[keyPath: field] != nil { hasDuplicates = true }
        self[keyPath: field] = value
    }
}
