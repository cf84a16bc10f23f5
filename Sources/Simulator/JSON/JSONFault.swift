/// Why a text is no JSON. It quotes nothing of the text.
struct JSONFault: Error, Equatable {
    enum Reason: String {
        case unexpected = "Unexpected token"
        case unfinished = "Unexpected end of string"
        case trailingText = "Expected end of string"
        case controlCharacter = "Control character in a string"
        case badEscape = "Illegal escape sequence"
        case badUTF8 = "Illegal UTF-8 sequence"
        case loneSurrogate = "Unpaired surrogate"
        case duplicateKey = "Repeated object key"
        case tooDeep = "Message too deep"
    }

    let reason: Reason
    /// Offset of the offending byte.
    let offset: Int

    init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

enum JSONLiteral: String {
    case `true`
    case `false`
    case null
}
