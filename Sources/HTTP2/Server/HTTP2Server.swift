import CLinux
import Glibc
import Logging
import Threading

/// A server of HTTP/2 over TLS, for the simulator and for tests: as fast as its clients, and able to fail in every way
/// in which real ones do.
package final class HTTP2Server: Sendable {
    private enum Phase: Sendable { case made, running, stopped }

    /// What it listens on.
    package let port: UInt16
    private let listener: Int32
    private let context: TLSContext
    private let configuration: HTTP2ServerConfiguration
    private let handler: @Sendable (HTTP2ServerRequest) -> HTTP2ServerAction
    private let logger: Logger
    private let mailbox = Mailbox<ServerLoop.Message>()
    private let phase = Monitor(Phase.made)
    private let counters = Locked(HTTP2ServerStatistics())

    /// Listens from here on; answers once started.
    /// - Parameter handler: runs on the server's thread, which serves all connections: it must not block.
    package init(
        configuration: HTTP2ServerConfiguration, logger: Logger,
        handler: @escaping @Sendable (HTTP2ServerRequest) -> HTTP2ServerAction
    ) throws(HTTP2Error) {
        self.configuration = configuration
        self.logger = logger
        self.handler = handler
        context = try TLSContext.server(
            certificateFile: configuration.certificateFile, keyFile: configuration.keyFile,
            offersHTTP2: configuration.offersHTTP2)
        (listener, port) = try Self.listen(host: configuration.host, port: configuration.port)
    }

    deinit {
        switch phase.withLock({ $0 }) {
        case .made: close(listener)
        case .running: mailbox.post(.stop)
        case .stopped: break
        }
    }

    package var statistics: HTTP2ServerStatistics { counters.withLock { $0 } }

    /// Does nothing if it was started before.
    package func start() {
        let mayStart = phase.withLock { phase in
            defer { if phase == .made { phase = .running } }
            return phase == .made
        }
        guard mayStart else { return }
        startThread(named: "http2-server") {
            [context, configuration, listener, mailbox, counters, logger, handler, phase] in
            blockBrokenPipeSignal()
            let loop = ServerLoop(
                configuration: configuration, context: context, listener: listener, mailbox: mailbox,
                statistics: counters, logger: logger, handler: handler)
            loop.run()
            phase.withLock { $0 = .stopped }
            phase.signal()
        }
    }

    /// Ends all connections, answered or not, and stops listening. Returns when that is done, which takes as long as the
    /// handler does; not to be called by the handler.
    package func stop() {
        mailbox.post(.stop)
        phase.wait { phase -> Monitor<Phase>.Turn<Void> in
            switch phase {
            case .running: return .wait(until: nil)
            case .made, .stopped: return .done(())
            }
        }
    }

    /// Announces another limit on all connections, open ones and those to come.
    package func setMaxConcurrentStreams(_ limit: UInt32) { mailbox.post(.changeMaxConcurrentStreams(limit)) }

    private static func listen(host: String, port: UInt16) throws(HTTP2Error) -> (listener: Int32, port: UInt16) {
        guard let address = SocketAddress.resolve(host, port: port, numeric: false, passive: true).first else {
            throw HTTP2Error(.bindFailed, "\(host) is no address of this machine")
        }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let listener = socket(address.family, type, 0)
        var one: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        guard address.withPointer({ bind(listener, $0, address.length) }) == 0, Glibc.listen(listener, 1024) == 0,
            let bound = SocketAddress(boundTo: listener)
        else {
            let reason = String(cString: strerror(errno))
            close(listener)
            throw HTTP2Error(.bindFailed, "\(host) port \(port): \(reason)")
        }
        return (listener, bound.port)
    }
}
