import HTTP2

/// The headers of a push, held to RFC 8030 and RFC 8291 §4.
struct PushRequest {
    enum Fault: String, Error {
        case method, ttl, urgency, topic
        case contentEncoding = "content_encoding"
        case tooLarge = "too_large"
        /// The body is no single `aes128gcm` record.
        case body
    }

    private static let urgencies = ["very-low", "low", "normal", "high"].map { Array($0.utf8) }
    /// No service refuses this much (RFC 8030 §7.2); Microsoft takes more.
    private static let longestBody = 4096
    private static let longestBodyAtMicrosoft = 5000

    let ttl: Int64
    let topic: [UInt8]?

    init(_ request: ProviderRequest, _ manners: PushPath.Manners?) throws(Fault) {
        guard request.method == "POST" else { throw .method }
        guard let digits = request.header("ttl"), !digits.isEmpty,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { throw .ttl }
        ttl = Int64(String(decoding: digits, as: UTF8.self)) ?? .max
        if ttl == 0, manners == .apple || manners == .wns { throw .ttl }
        if let urgency = request.header("urgency"), !Self.urgencies.contains(urgency) { throw .urgency }
        topic = request.header("topic")
        if let topic, !Self.isTopic(topic) { throw .topic }
        let longest = manners == .wns ? Self.longestBodyAtMicrosoft : Self.longestBody
        guard request.body.count <= longest else { throw .tooLarge }
        guard request.body.isEmpty || request.header("content-encoding") == Array("aes128gcm".utf8) else {
            throw .contentEncoding
        }
    }

    private static func isTopic(_ topic: [UInt8]) -> Bool {
        (1...32).contains(topic.count)
            && topic.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
