import HTTP2

/// What the endpoints read of a request, whatever server it came through.
struct ProviderRequest {
    let method: String
    /// `:path`, query included.
    let path: String
    let authorization: [UInt8]?
    let contentType: [UInt8]?
    let body: [UInt8]
    /// For APNs only.
    var apns = APNsFields()
    /// Any other field, by its name in lower case.
    let header: (StaticString) -> [UInt8]?

    init(
        method: String, path: String, authorization: [UInt8]? = nil, contentType: [UInt8]? = nil, body: [UInt8] = [],
        header: @escaping (StaticString) -> [UInt8]? = { _ in nil }
    ) {
        self.method = method
        self.path = path
        self.authorization = authorization
        self.contentType = contentType
        self.body = body
        self.header = header
    }

    /// Whether the content is declared as `type`, parameters apart (RFC 9110 §8.3.1).
    func hasContent(_ type: [UInt8]) -> Bool {
        guard let contentType, contentType.count >= type.count else { return false }
        for (declared, expected) in zip(contentType, type) where declared | 0x20 != expected | 0x20 { return false }
        guard contentType.count > type.count else { return true }
        return [UInt8(ascii: ";"), UInt8(ascii: " ")].contains(contentType[type.count])
    }

    static let json = Array("application/json".utf8)
    static let form = Array("application/x-www-form-urlencoded".utf8)
}

extension HTTP2ServerResponse {
    private static let jsonFields = [("content-type", "application/json; charset=UTF-8")]
    private static let htmlFields = [("content-type", "text/html; charset=UTF-8")]

    static func json(_ status: Int = 200, _ body: [UInt8]) -> HTTP2ServerResponse {
        HTTP2ServerResponse(status: status, fields: jsonFields, body: body)
    }

    static func json(_ status: Int = 200, _ body: String) -> HTTP2ServerResponse {
        json(status, Array(body.utf8))
    }

    static func html(_ status: Int, _ title: String) -> HTTP2ServerResponse {
        let page = "<!DOCTYPE html><html><head><title>\(title)</title></head><body><h1>\(title)</h1></body></html>"
        return HTTP2ServerResponse(status: status, fields: htmlFields, body: Array(page.utf8))
    }
}

extension ProviderRequest {
    /// - Parameter isSandbox: it came to the listener that stands for Apple's sandbox.
    init(_ request: HTTP2ServerRequest, isSandbox: Bool = false) {
        self.init(
            method: request.method, path: request.text(":path") ?? "", authorization: request.field("authorization"),
            contentType: request.field("content-type"), body: request.body, header: { request.field($0) })
        if path.hasPrefix(Endpoints.apnsPrefix) { apns = APNsFields(request, isSandbox: isSandbox) }
    }
}
