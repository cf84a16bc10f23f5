import Glibc

/// A request, whole.
package struct HTTPServerRequest: Sendable {
    package let method: String
    /// Without the query.
    package let path: String
    /// By lower-case name; of a repeated one the last.
    package let headers: [String: String]
    package let body: [UInt8]

    package init(method: String, path: String, headers: [String: String] = [:], body: [UInt8] = []) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
    }

    /// A path as it was sent, decoded; a per cent sign that begins no escape stays.
    /// - Returns: nil if it then holds a NUL or is no UTF-8: mended, it would be another's path.
    package static func path(decoding sent: UnsafePointer<CChar>) -> String? {
        let bytes = Array(UnsafeBufferPointer(start: sent, count: strlen(sent))).map { UInt8(bitPattern: $0) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = digit(bytes[index + 1]),
                let low = digit(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return decoded.contains(0) ? nil : String(validating: decoded, as: UTF8.self)
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        Character(UnicodeScalar(character)).hexDigitValue.map { UInt8($0) }
    }
}

package struct HTTPServerResponse: Sendable {
    package var status: UInt32
    package var headers: [(String, String)]
    package var body: [UInt8]

    package init(status: UInt32, headers: [(String, String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package init(status: UInt32, text: String) {
        self.init(status: status, headers: [("content-type", "text/plain; charset=utf-8")], body: Array(text.utf8))
    }

    package init(status: UInt32, json: String) {
        self.init(status: status, headers: [("content-type", "application/json")], body: Array(json.utf8))
    }
}
