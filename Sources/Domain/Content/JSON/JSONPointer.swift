/// The way to a member, from the file's root (RFC 6901).
struct JSONPointer: CustomStringConvertible {
    static let root = JSONPointer(description: "")
    let description: String

    private init(description: String) { self.description = description }

    static func / (parent: JSONPointer, key: String) -> JSONPointer {
        var text = parent.description + "/"
        for scalar in key.unicodeScalars {
            switch scalar {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return JSONPointer(description: text)
    }

    static func / (parent: JSONPointer, index: Int) -> JSONPointer {
        JSONPointer(description: "\(parent.description)/\(index)")
    }
}
