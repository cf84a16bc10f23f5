import Domain

/// What a message is sent to, as the stored address says it: a registration token stands as it is, everything else has a
/// prefix that no token begins with. `fid:` is Firebase's installation id in place of a token; the two others belong to
/// campaigns, and the database keeps them out of subscribers' addresses.
enum FCMTarget {
    case token
    case fid
    case topic
    case condition

    private static let fidPrefix = "fid:"

    init(address: String) {
        if address.hasPrefix(Self.fidPrefix) {
            self = .fid
        } else if address.hasPrefix(ProviderTarget.topicPrefix) {
            self = .topic
        } else if address.hasPrefix(ProviderTarget.conditionPrefix) {
            self = .condition
        } else {
            self = .token
        }
    }

    /// Bytes that the message may weigh (FCM v1 reference, `INVALID_ARGUMENT`).
    var maximumBytes: Int {
        switch self {
        case .token, .fid: FCMPreparedMessage.maximumBytes
        case .topic, .condition: ProviderTarget.maximumBytes
        }
    }

    /// Appends the member of `message` that names the target.
    func append(_ address: String, to bytes: inout [UInt8]) {
        let (field, prefix) =
            switch self {
            case .token: (#""token":""#, "")
            case .fid: (#""fid":""#, Self.fidPrefix)
            case .topic: (#""topic":""#, ProviderTarget.topicPrefix)
            case .condition: (#""condition":""#, ProviderTarget.conditionPrefix)
            }
        bytes.append(contentsOf: field.utf8)
        if prefix.isEmpty {
            JSONBytes.append(address, escaping: .json, to: &bytes)
        } else {
            JSONBytes.append(String(address.dropFirst(prefix.count)), escaping: .json, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
