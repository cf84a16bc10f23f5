/// An answer, whole. Its body may hold secrets and is not printed.
package struct HTTPClientResponse: Sendable, CustomStringConvertible, CustomReflectable {
    /// 100 to 599.
    package var status: Int
    package var headers: HTTPHeaders
    package var body: [UInt8]

    package init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package var description: String { "response \(status), \(body.count) bytes" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
