/// A complete answer: its end was received without an error.
package struct HTTP2Response: Sendable {
    package struct Field: Sendable {
        package let name: String
        package let value: [UInt8]

        package init(name: String, value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    package let status: Int
    /// Those whose names the client was told to retain, the first of each name, values cut at 4 KiB.
    package let fields: [Field]
    /// Cut at the client's `maxBody`.
    package let body: [UInt8]

    package init(status: Int, fields: [Field] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The value of a retained field; nil if the server sent none.
    /// - Parameter name: in lower case.
    package func field(_ name: String) -> String? {
        for field in fields where field.name == name { return String(decoding: field.value, as: UTF8.self) }
        return nil
    }
}
