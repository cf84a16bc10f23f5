/// What the headers that overrides may set must look like (Apple: sending notification requests to APNs; RFC 8030 §5).
enum ProviderHeader {
    private static let pushTypes = [
        "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity", "pushtotalk",
        "widgets", "controls",
    ]
    private static let urgencies = ["very-low", "low", "normal", "high"]
    /// Separators that a token may have (RFC 9110 §5.6.2).
    private static let tokenMarks = Set("!#$%&'*+-.^_`|~".utf8)

    static func isName(_ text: String) -> Bool {
        1...64 ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte || tokenMarks.contains(byte)
            }
    }

    static func isText(_ text: String) -> Bool {
        text.utf8.count <= 1024 && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    /// What a known header wants in place of this value; nil = it is right, or the header is unknown.
    /// - Parameter name: in lower case.
    static func fault(_ name: String, _ value: String) -> String? {
        switch name {
        case "apns-priority": return ["1", "5", "10"].contains(value) ? nil : "1, 5 or 10"
        case "apns-expiration": return isDecimal(value, digits: 11) ? nil : "whole seconds since 1970"
        case "apns-collapse-id": return 1...64 ~= value.utf8.count ? nil : "1 to 64 bytes"
        case "apns-push-type":
            return pushTypes.contains(value) ? nil : "one of \(pushTypes.joined(separator: ", "))"
        case "ttl":
            guard isDecimal(value, digits: 10), let seconds = Int(value), seconds <= 2_419_200 else {
                return "whole seconds, at most 2419200"
            }
            return nil
        case "urgency":
            return urgencies.contains(value) ? nil : "one of \(urgencies.joined(separator: ", "))"
        case "topic":
            let isRight = 1...32 ~= value.utf8.count && value.utf8.allSatisfy(isBase64URL)
            return isRight ? nil : "1 to 32 letters, digits, - and _"
        default: return nil
        }
    }

    private static func isDecimal(_ text: String, digits: Int) -> Bool {
        1...digits ~= text.utf8.count && text.utf8.allSatisfy { 0x30...0x39 ~= $0 }
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        ProviderLabel.isLabelByte(byte) && byte != UInt8(ascii: ".") && byte != UInt8(ascii: "~")
            && byte != UInt8(ascii: "%")
    }
}
