/// What goes wrong with a send.
enum Fault: String, CaseIterable, Sendable {
    // Answers. The message is not accepted.
    case unregistered, bad, mismatch, quota, e401, e500, e503, html502, thirdparty
    // Accepted, and the sender learns of it late, or not at all.
    /// Answered after two seconds.
    case slow
    /// 200 without a body.
    case empty
    /// RST_STREAM with INTERNAL_ERROR.
    case reset
    /// Never answered.
    case stall
    /// Answered, with a GOAWAY that refuses all later requests of the connection.
    case goaway
    /// The connection is reset; whatever else was under way on it is lost too.
    case close
    // Not accepted.
    /// Never answered.
    case drop
    /// RST_STREAM with REFUSED_STREAM.
    case refuse
    /// GOAWAY below this request.
    case goawaybelow

    /// What a token begins with to get this fault: `dead-`; `dead-once-` for its first request only.
    var prefix: String { self == .unregistered ? "dead-" : "\(rawValue)-" }

    /// Whether the message goes to the device all the same.
    var isAccepted: Bool {
        switch self {
        case .slow, .empty, .reset, .stall, .goaway, .close: true
        case .unregistered, .bad, .mismatch, .quota, .e401, .e500, .e503, .html502, .thirdparty, .drop, .refuse,
            .goawaybelow:
            false
        }
    }

    /// A property of the token: whoever asks about it, and however often, it is the same.
    var isOfToken: Bool {
        self == .unregistered || self == .bad || self == .mismatch
    }
}

extension Fault {
    private static let once = Array("once-".utf8)

    /// By the first byte of the token, so that ordinary tokens cost one look.
    private static let prefixes: [[(bytes: [UInt8], fault: Fault)]] = {
        var table = [[(bytes: [UInt8], fault: Fault)]](repeating: [], count: 256)
        for fault in Fault.allCases {
            let bytes = Array(fault.prefix.utf8)
            table[Int(bytes[0])].append((bytes, fault))
        }
        return table
    }()

    /// The fault that a token asks for by how it begins.
    /// - Parameter attempts: requests for it before this one.
    static func asked(by token: ArraySlice<UInt8>, attempts: UInt32) -> Fault? {
        guard let first = token.first else { return nil }
        for (bytes, fault) in prefixes[Int(first)] where token.starts(with: bytes) {
            let isOnce = token.dropFirst(bytes.count).starts(with: once)
            return isOnce && attempts > 0 ? nil : fault
        }
        return nil
    }
}
