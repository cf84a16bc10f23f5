/// `[a-zA-Z0-9-_.~%]`, which FCM's topics and analytics labels are made of (Admin SDK, FCM v1 reference).
package enum ProviderLabel {
    package static func isValid(_ text: String, atMost limit: Int) -> Bool {
        1...limit ~= text.utf8.count && text.utf8.allSatisfy(isLabelByte)
    }

    static func isLabelByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "~"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}
