/// What names and values of the maps in a send request must be.
enum MapRules {
    private static let from = Array("from".utf8)
    private static let messageType = Array("message_type".utf8)
    private static let google = Array("google".utf8)
    private static let gcm = Array("gcm".utf8)

    /// The union of what Google's pages reserve (fcm.md §4), case-sensitive as they are.
    static func checkDataKey(_ key: JSONText, _ scanner: JSONScanner) throws(Violation) {
        guard !key.isEscaped, key.end > key.start else {
            return try checkDataKey(bytes: scanner.decoded(key))
        }
        // Most names begin with another letter.
        switch scanner.bytes[key.start] {
        case UInt8(ascii: "f"), UInt8(ascii: "g"), UInt8(ascii: "m"): try checkDataKey(bytes: scanner.decoded(key))
        default: return
        }
    }

    private static func checkDataKey(bytes: [UInt8]) throws(Violation) {
        let isReserved = bytes == from || bytes == messageType || bytes.starts(with: google) || bytes.starts(with: gcm)
        guard isReserved else { return }
        throw Violation(
            .message, message: "Invalid data payload key: \(String(decoding: bytes, as: UTF8.self))",
            description: "Reserved key.")
    }

    /// FCM hands these headers on to APNs; what APNs would refuse is refused here.
    /// - Returns: the value of `apns-priority`.
    static func checkAppleHeader(
        _ key: JSONText, _ value: JSONText, _ scanner: JSONScanner
    ) throws(Violation) -> Int? {
        let text = String(decoding: scanner.decoded(value), as: UTF8.self)
        switch lowercased(key, scanner) {
        case "apns-priority":
            guard ["1", "5", "10"].contains(text) else { throw Violation.badValue("Invalid apns-priority.") }
            return Int(text)
        case "apns-expiration":
            guard isDecimal(text, digits: 11) else { throw Violation.badValue("Invalid apns-expiration.") }
        case "apns-collapse-id":
            guard (1...64).contains(text.utf8.count) else { throw Violation.badValue("Invalid apns-collapse-id.") }
        case "apns-push-type":
            guard pushTypes.contains(text) else { throw Violation.badValue("Invalid apns-push-type.") }
        default: break
        }
        return nil
    }

    /// FCM hands these headers on to its own push service (RFC 8030 §5).
    static func checkWebHeader(_ key: JSONText, _ value: JSONText, _ scanner: JSONScanner) throws(Violation) {
        let text = String(decoding: scanner.decoded(value), as: UTF8.self)
        switch lowercased(key, scanner) {
        case "ttl": guard isDecimal(text, digits: 10) else { throw Violation.badValue("Invalid TTL.") }
        case "urgency":
            guard ["very-low", "low", "normal", "high"].contains(text) else {
                throw Violation.badValue("Invalid Urgency.")
            }
        case "topic":
            guard (1...32).contains(text.utf8.count), text.utf8.allSatisfy(isBase64URL) else {
                throw Violation.badValue("Invalid Topic.")
            }
        default: break
        }
    }

    private static let pushTypes: Set<String> = [
        "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity", "pushtotalk",
        "widgets", "controls",
    ]

    private static func lowercased(_ key: JSONText, _ scanner: JSONScanner) -> String {
        String(decoding: scanner.decoded(key), as: UTF8.self).lowercased()
    }

    private static func isDecimal(_ text: String, digits: Int) -> Bool {
        (1...digits).contains(text.utf8.count) && text.utf8.allSatisfy(TextRules.isDigit)
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        TextRules.isLabelByte(byte) && ![UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "%")].contains(byte)
    }
}
