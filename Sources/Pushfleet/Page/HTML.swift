/// A piece of HTML. Values enter by interpolation, which escapes them; the text itself is a literal of the program.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    let text: String

    init(stringLiteral value: String) { text = value }

    init(stringInterpolation interpolation: StringInterpolation) { text = interpolation.text }

    init(_ pieces: [HTML]) { text = pieces.map(\.text).joined(separator: "\n") }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ piece: HTML) { text += piece.text }

        mutating func appendInterpolation(_ number: Int) { text += String(number) }

        /// For text and for attributes in either kind of quotes.
        mutating func appendInterpolation(_ value: String) {
            for scalar in value.unicodeScalars {
                switch scalar {
                case "&": text += "&amp;"
                case "<": text += "&lt;"
                case ">": text += "&gt;"
                case "\"": text += "&quot;"
                case "'": text += "&#39;"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
