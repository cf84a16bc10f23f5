/// A request whose headers and path are well-formed: the checks that need neither key nor device (Apple: sending
/// notification requests to APNs).
struct APNsRequest {
    /// The device token, in lower case.
    let token: [UInt8]
    private let pushType: APNsPushType
    private let topic: String

    private static let path = "/3/device/"
    private static let digits = 32...512
    private static let hyphens: Set<Int> = [8, 13, 18, 23]

    init(_ request: ProviderRequest, _ fields: APNsFields) throws(APNsRefusal) {
        if let id = fields.id, !Self.isUUID(id) { throw APNsRefusal(.badMessageId) }
        guard request.method == "POST" else { throw APNsRefusal(.methodNotAllowed) }
        if fields.hasDuplicates { throw APNsRefusal(.duplicateHeaders) }
        guard let topic = fields.topic, !topic.isEmpty else { throw APNsRefusal(.missingTopic) }
        self.topic = String(decoding: topic, as: UTF8.self)
        if let id = fields.collapseID, id.isEmpty || id.count > 64 { throw APNsRefusal(.badCollapseId) }
        if let expiration = fields.expiration, !Self.isDecimal(expiration) { throw APNsRefusal(.badExpirationDate) }
        let priority = fields.priority.map { String(decoding: $0, as: UTF8.self) } ?? "10"
        guard ["1", "5", "10"].contains(priority) else { throw APNsRefusal(.badPriority) }
        // Recommended everywhere, required by some devices: a sender of ours always says it.
        guard let name = fields.pushType, let pushType = APNsPushType(rawValue: String(decoding: name, as: UTF8.self))
        else { throw APNsRefusal(.invalidPushType) }
        // Apple says only that it is an error.
        if pushType == .background, priority != "5" { throw APNsRefusal(.badPriority) }
        self.pushType = pushType
        token = try Self.token(in: request.path)
    }

    private static func token(in path: String) throws(APNsRefusal) -> [UInt8] {
        guard path.hasPrefix(Self.path) else {
            throw APNsRefusal(path == "/3/device" ? .missingDeviceToken : .badPath)
        }
        var token = Array(path.utf8.dropFirst(Self.path.utf8.count))
        if token.isEmpty { throw APNsRefusal(.missingDeviceToken) }
        guard digits.contains(token.count), token.count.isMultiple(of: 2) else { throw APNsRefusal(.badDeviceToken) }
        for index in token.indices {
            switch token[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): break
            case UInt8(ascii: "A")...UInt8(ascii: "F"): token[index] |= 0x20
            default: throw APNsRefusal(.badDeviceToken)
            }
        }
        return token
    }

    /// The topic is the key's, with the suffix that belongs to the push type.
    func check(topicOf key: ProviderTokens.Key) throws(APNsRefusal) {
        if topic == key.topic + pushType.topicSuffix { return }
        throw APNsRefusal(topic == key.topic || topic.hasPrefix(key.topic + ".") ? .badTopic : .topicDisallowed)
    }

    /// The body, which must be what the push type says.
    func payload(_ body: [UInt8]) throws(APNsRefusal) -> APNsPayload {
        if body.isEmpty { throw APNsRefusal(.payloadEmpty) }
        if body.count > pushType.limit { throw APNsRefusal(.payloadTooLarge) }
        let payload: APNsPayload
        do { payload = try APNsPayload(body) } catch { throw APNsRefusal(.payloadInvalid) }
        switch pushType {
        // Apple discards it, which no sender would learn of.
        case .background: if !payload.isBackground { throw APNsRefusal(.invalidPushType) }
        case .alert: if !payload.isVisible { throw APNsRefusal(.invalidPushType) }
        default: break
        }
        return payload
    }

    private static func isDecimal(_ text: [UInt8]) -> Bool {
        1...11 ~= text.count && text.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    /// Canonical: lower case, 8-4-4-4-12.
    private static func isUUID(_ text: [UInt8]) -> Bool {
        guard text.count == 36 else { return false }
        for (index, byte) in text.enumerated() {
            switch byte {
            case UInt8(ascii: "-"): if !hyphens.contains(index) { return false }
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"):
                if hyphens.contains(index) { return false }
            default: return false
            }
        }
        return true
    }
}
