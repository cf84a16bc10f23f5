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
