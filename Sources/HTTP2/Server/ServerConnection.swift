import CNghttp2
import Glibc

/// One connection of the server: its TLS, its HTTP/2 session and its streams. Belongs to the server's thread.
final class ServerConnection {
    enum End {
        case orderly
        /// By a TCP reset.
        case hard
    }

    let id: UInt64
    let channel: TLSChannel
    let handler: @Sendable (HTTP2ServerRequest) -> HTTP2ServerAction
    let maxBody: Int
    /// What its GOAWAY frames carry.
    let debugData: [UInt8]
    /// Answers to give later; the loop keeps the time.
    var later: [(delay: Duration, stream: Int32, response: HTTP2ServerResponse)] = []

    var isEstablished = false
    /// Nothing is read or written: SETTINGS are held back.
    var isHeld = false
    /// Set within a callback: the loop ends the connection when the callback has returned.
    var end: End?
    /// The last stream that a GOAWAY of ours accepts.
    var lastAccepted: Int32?
    /// The highest stream that the handler saw.
    var lastHandled: Int32 = 0
    var openStreams = 0
    var leftOpen = 0
    var waitsForRoom = false
    /// Requests that were complete.
    var requests = 0

    /// Streams by number; libnghttp2 keeps number + 1 as the stream's user data.
    var streams: ContiguousArray<ServerStream> = []
    private var free: [Int] = []
    var fieldBytes: [UInt8] = []
    var fieldSpans: [(name: Range<Int>, value: Range<Int>, isIndexed: Bool)] = []
    private var handle: OpaquePointer?
    var session: OpaquePointer { handle! }  // made in init

    init(
        id: UInt64, channel: TLSChannel, callbacks: ServerCallbacks, configuration: HTTP2ServerConfiguration,
        maxConcurrentStreams: UInt32, handler: @escaping @Sendable (HTTP2ServerRequest) -> HTTP2ServerAction
    ) {
        self.id = id
        self.channel = channel
        self.handler = handler
        maxBody = configuration.maxBody
        debugData = configuration.goAwayDebugData
        let context = Unmanaged.passUnretained(self).toOpaque()
        let code = nghttp2_session_server_new(&handle, callbacks.pointer, context)
        precondition(code == 0, "out of memory for an HTTP/2 session")
        var settings = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: maxConcurrentStreams),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: configuration.initialWindow),
        ]
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &settings, settings.count)
        let window = Int32(clamping: Int64(configuration.initialWindow) * 64)
        nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, window)
    }

    deinit { nghttp2_session_del(handle) }

    func change(maxConcurrentStreams: UInt32) {
        var setting = nghttp2_settings_entry(
            settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: maxConcurrentStreams)
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &setting, 1)
    }

    /// Whether the connection is over: a GOAWAY was sent, and nothing that it accepted waits for an answer.
    var isFinished: Bool { lastAccepted != nil && openStreams == leftOpen }

    func openStream(_ id: Int32) {
        let number = free.popLast() ?? streams.count
        if number == streams.count { streams.append(ServerStream()) }
        streams[number].open(id, connection: self.id)
        openStreams += 1
        nghttp2_session_set_stream_user_data(session, id, UnsafeMutableRawPointer(bitPattern: number + 1))
    }

    func closeStream(_ number: Int) {
        if streams[number].isLeftOpen { leftOpen -= 1 }
        openStreams -= 1
        streams[number].close()
        free.append(number)
    }

    /// The number of a stream that is open; nil if it is not.
    func number(of stream: Int32) -> Int? {
        let number = Int(bitPattern: nghttp2_session_get_stream_user_data(session, stream)) - 1
        return number >= 0 && streams[number].isOpen ? number : nil
    }

    /// Gives the session what the socket has.
    /// - Returns: false if the connection is over.
    func receive(with buffer: UnsafeMutableRawBufferPointer) -> Bool {
        while true {
            switch channel.read(into: buffer) {
            case .nothing: return true
            case .ended: return false
            case .bytes(let count):
                let bytes = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
                if nghttp2_session_mem_recv(session, bytes, count) < 0 || end != nil { return false }
                if !channel.hasPending { return true }
            }
        }
    }
}
