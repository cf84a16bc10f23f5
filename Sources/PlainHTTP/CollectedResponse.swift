/// What a transfer has received so far. Written by libcurl's callbacks on the client's thread.
final class CollectedResponse {
    private let limit: Int
    private var headers = HTTPHeaders()
    private var body: [UInt8] = []
    private(set) var isOverLimit = false

    init(limit: Int) { self.limit = limit }

    /// - Returns: false once the body is longer than it may be.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= limit else {
            isOverLimit = true
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    /// One line of the head. A status line begins a new head: that of a proxy or an interim answer came before.
    func takeHeaderLine(_ line: String) {
        if line.hasPrefix("HTTP/") {
            headers = HTTPHeaders()
        } else if let colon = line.firstIndex(of: ":") {
            headers.add(
                name: line[..<colon].lowercased(), value: String(line[line.index(after: colon)...].trimmingBlanks))
        }
    }

    func response(status: Int) -> HTTPClientResponse {
        HTTPClientResponse(status: status, headers: headers, body: body)
    }
}

extension Substring {
    fileprivate var trimmingBlanks: Substring {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
