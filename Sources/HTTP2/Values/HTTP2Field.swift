/// One header field of a request (RFC 9113 §8.2).
package struct HTTP2Field: Sendable {
    /// In lower case.
    package let name: StaticString
    package let value: [UInt8]
    /// Sent as a never-indexed literal (RFC 7541 §6.2.3): for what differs from request to request, which would push
    /// everything else out of the compression table, and for secrets short enough to be guessed.
    package let noIndex: Bool

    package init(_ name: StaticString, _ value: [UInt8], noIndex: Bool = true) {
        self.name = name
        self.value = value
        self.noIndex = noIndex
    }

    package init(_ name: StaticString, _ value: String, noIndex: Bool = true) {
        self.init(name, Array(value.utf8), noIndex: noIndex)
    }
}
