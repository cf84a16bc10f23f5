import CNghttp2
import Glibc

/// One connection of a client: its TLS, its HTTP/2 session and its streams. Belongs to the client's thread.
final class ClientConnection {
    enum Phase {
        case handshaking
        /// Nothing but our own SETTINGS is sent before the server's came.
        case awaitingSettings
        case open
        /// Takes no more requests, and ends with those that it has.
        case draining
    }

    let token: UInt64
    let channel: TLSChannel
    /// Of the server, counted in the order of the addresses that its name has.
    let address: SocketAddress
    let queue: RequestQueue
    let clock: TurnClock
    let retained: RetainedFields
    let maxBody: Int
    /// How many streams there are places for.
    let streamCapacity: Int

    let madeAt: ContinuousClock.Instant
    var phase = Phase.handshaking
    /// Until it is open: when it must be.
    var openBy: ContinuousClock.Instant
    var waitsForRoom = false
    /// Has something to send that the socket has not seen.
    var needsFlush = false
    var lastHeard: ContinuousClock.Instant
    /// Since when it has no requests.
    var idleSince: ContinuousClock.Instant
    /// A PING is on its way, and must be answered by then before more requests are begun.
    var pingDeadline: ContinuousClock.Instant?
    /// Not later than the first deadline of a request.
    var nextDeadline: ContinuousClock.Instant?
    var answered = 0
    /// Of those, what the loop has taken note of.
    var answeredBefore = 0
    var timeoutsInARow = 0
    var refusalsInARow = 0
    var wentAway = false
    /// What the server allows, as of its last SETTINGS.
    var serverLimit = 0
    private(set) var inFlight = 0

    let streams: UnsafeMutablePointer<ClientStream>
    private var free: [Int32]
    let head: RequestHead
    private var handle: OpaquePointer?
    var session: OpaquePointer { handle! }  // made in init

    init(
        token: UInt64, channel: TLSChannel, address: SocketAddress, origin: HTTP2Origin,
        configuration: HTTP2ClientConfiguration, queue: RequestQueue, retained: RetainedFields,
        callbacks: ClientCallbacks, openBy: ContinuousClock.Instant
    ) {
        self.token = token
        self.channel = channel
        self.address = address
        self.queue = queue
        self.retained = retained
        self.openBy = openBy
        clock = queue.clock
        madeAt = clock.now
        lastHeard = clock.now
        idleSince = clock.now
        maxBody = configuration.maxBody
        streamCapacity = configuration.streamsPerConnection
        head = RequestHead(authority: origin.authority)
        streams = .allocate(capacity: streamCapacity)
        for index in 0..<streamCapacity { (streams + index).initialize(to: ClientStream(index: Int32(index))) }
        free = (0..<Int32(streamCapacity)).reversed()
        let code = nghttp2_session_client_new(&handle, callbacks.pointer, Unmanaged.passUnretained(self).toOpaque())
        precondition(code == 0, "out of memory for an HTTP/2 session")
        submitSettings()
    }

    deinit {
        nghttp2_session_del(handle)
        streams.deinitialize(count: streamCapacity)
        streams.deallocate()
    }

    /// How many requests may be in flight.
    var limit: Int { min(serverLimit, streamCapacity) }

    /// How many more requests it takes now.
    var room: Int { phase == .open && pingDeadline == nil ? min(limit - inFlight, free.count) : 0 }

    /// Responses are small: 64 KiB for each, 1 MiB for all, and no pushes.
    private func submitSettings() {
        let values: [(nghttp2_settings_id, UInt32)] = [
            (NGHTTP2_SETTINGS_ENABLE_PUSH, 0), (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 65_535),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, 16_384),
        ]
        let settings = values.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        nghttp2_submit_settings(session, flags, settings, settings.count)
        nghttp2_session_set_local_window_size(session, flags, 0, 1 << 20)
    }

    func takeStream() -> UnsafeMutablePointer<ClientStream>? {
        guard let index = free.popLast() else { return nil }
        inFlight += 1
        return streams + Int(index)
    }

    func giveBack(_ stream: UnsafeMutablePointer<ClientStream>) {
        stream.pointee.queued = nil
        stream.pointee.clear()
        free.append(stream.pointee.index)
        inFlight -= 1
        if inFlight == 0 { idleSince = clock.now }
    }

    /// It ended for a fault of the server's before a single answer: the next one should wait.
    var wasUseless: Bool { answered == 0 && (wentAway || refusalsInARow > 0 || timeoutsInARow > 0) }

    /// Takes no more requests.
    func retire() { phase = .draining }
}
