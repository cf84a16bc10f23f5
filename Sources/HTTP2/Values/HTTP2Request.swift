/// One `POST`. Scheme and authority come from the client's origin.
package struct HTTP2Request: Sendable {
    /// The caller's; comes back in the result. Need not be unique.
    package let id: UInt64
    /// `:path`: starts with a slash, query included.
    package let path: [UInt8]
    /// What this request has beyond the shared block; few.
    package let fields: [HTTP2Field]
    package let body: [UInt8]

    package init(id: UInt64, path: [UInt8], fields: [HTTP2Field] = [], body: [UInt8]) {
        self.id = id
        self.path = path
        self.fields = fields
        self.body = body
    }
}
