package struct HTTP2ServerResponse: Sendable {
    package var status: Int
    /// Names in lower case.
    package var fields: [(String, String)]
    package var body: [UInt8]

    package init(status: Int, fields: [(String, String)] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}
