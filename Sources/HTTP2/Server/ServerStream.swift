/// One request and its answer. Reused for stream after stream of a connection, with what it has allocated.
struct ServerStream {
    var id: Int32 = 0
    var isOpen = false
    /// No answer is owed: it was stalled, or a GOAWAY left it so.
    var isLeftOpen = false
    var request = HTTP2ServerRequest()
    var response: [UInt8] = []
    var responseSent = 0

    mutating func open(_ id: Int32, connection: UInt64) {
        self.id = id
        isOpen = true
        isLeftOpen = false
        request.streamID = id
        request.connectionID = connection
        responseSent = 0
    }

    mutating func close() {
        isOpen = false
        request.head.removeAll(keepingCapacity: true)
        request.spans.removeAll(keepingCapacity: true)
        request.body.removeAll(keepingCapacity: true)
        response = []
    }
}
