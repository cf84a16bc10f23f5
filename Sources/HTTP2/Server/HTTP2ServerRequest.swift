/// A complete request, as the handler sees it.
package struct HTTP2ServerRequest: Sendable {
    /// Where a field lies in `head`.
    struct Span: Sendable {
        let name: Range<Int>
        let value: Range<Int>
    }

    /// Names and values one after the other, pseudo-fields included. Its storage goes back to the stream for the next
    /// request, if the handler kept no copy.
    var head: [UInt8] = []
    var spans: [Span] = []
    /// Cut at the server's `maxBody`.
    package internal(set) var body: [UInt8] = []
    package internal(set) var streamID: Int32 = 0
    /// Counts the connections of the server from 1.
    package internal(set) var connectionID: UInt64 = 0

    init() {}

    /// Pseudo-fields, too: `:method`, `:path`, `:authority`, `:scheme`.
    /// - Parameter name: in lower case.
    /// - Returns: the value of the first field of that name.
    package func field(_ name: StaticString) -> [UInt8]? {
        span(name).map { Array(head[$0]) }
    }

    package func text(_ name: StaticString) -> String? {
        span(name).map { String(decoding: head[$0], as: UTF8.self) }
    }

    package var method: String { text(":method") ?? "" }
    package var path: [UInt8] { field(":path") ?? [] }

    /// All fields in the order received, pseudo-fields included.
    package var fields: [(name: String, value: [UInt8])] {
        spans.map { (String(decoding: head[$0.name], as: UTF8.self), Array(head[$0.value])) }
    }

    private func span(_ name: StaticString) -> Range<Int>? {
        name.withUTF8Buffer { name in
            for span in spans where span.name.count == name.count && head[span.name].elementsEqual(name) {
                return span.value
            }
            return nil
        }
    }
}
