// Stand-in for async-http-client 1.x (https://github.com/swift-server/async-http-client): the call sites that this
// project uses, on libcurl, for the rare plain request. Pushes go through HTTP2.

/// A request whose body is in memory. Printing it shows neither headers nor body, which may hold secrets.
package struct HTTPClientRequest: Sendable, CustomStringConvertible, CustomReflectable {
    package var url: String
    package var method = HTTPMethod.GET
    package var headers = HTTPHeaders()
    package var body: [UInt8]?

    package init(url: String) { self.url = url }

    package var description: String { "\(method.rawValue) request" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

package enum HTTPMethod: String, Sendable {
    case GET, POST
}

/// Names compare without regard to case; order and repetition are kept (RFC 9110 §5).
package struct HTTPHeaders: Sendable {
    package private(set) var fields: [(name: String, value: String)] = []

    package init() {}

    package mutating func add(name: String, value: String) { fields.append((name, value)) }

    /// Every value of that name, in order.
    package subscript(name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    package func first(name: String) -> String? { self[name].first }
}
