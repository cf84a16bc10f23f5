import CMicrohttpd
import Glibc
import Logging
import ServiceLifecycle
import Threading

/// A small HTTP/1.1 server on libmicrohttpd, for metrics, health and intake: behind a proxy that ends TLS, or on loopback.
///
/// A request is taken whole, at most `configuration.bodyLimit` bytes of it, then answered by the handler, which may await.
/// The library's thread never waits for it: the connection is suspended meanwhile.
package final class HTTPServer: Service {
    package typealias Handler = @Sendable (HTTPServerRequest) async -> HTTPServerResponse

    package struct Configuration: Sendable {
        package var host: String
        /// 0 = any free one.
        package var port: UInt16
        /// Largest body; a longer one is answered 413.
        package var bodyLimit = 65_536
        /// Requests that are handled at once; more wait, within their deadline.
        package var concurrency = 64
        /// A request that is not answered so soon after it came whole is answered 503.
        package var deadline: Duration = .seconds(10)
        /// How long a request may take to come, from the connection's start or from the answer before it; then the
        /// connection is closed. 15 s of silence close it, too.
        package var patience: Duration = .seconds(30)

        package init(host: String = "127.0.0.1", port: UInt16) {
            self.host = host
            self.port = port
        }
    }

    package struct Failure: Error, CustomStringConvertible {
        /// Names the address and the remedy.
        package let description: String
    }

    let configuration: Configuration
    private let handler: Handler
    private let logger: Logger
    private nonisolated(unsafe) let daemon: OpaquePointer
    private let exchanges: AsyncStream<Exchange>
    private let context: Unmanaged<Intake>
    package let port: UInt16

    /// Listens from here on; requests are answered once `run` is called.
    /// - Throws: `Failure` when the address cannot be listened on.
    package init(_ configuration: Configuration, logger: Logger, handler: @escaping Handler) throws(Failure) {
        self.configuration = configuration
        self.handler = handler
        self.logger = logger
        let (stream, continuation) = AsyncStream.makeStream(of: Exchange.self)
        exchanges = stream
        context = Unmanaged.passRetained(Intake(bodyLimit: configuration.bodyLimit, continuation: continuation))
        guard var address = Self.address(configuration) else {
            throw Failure(
                description: "http-host: '\(configuration.host)' is no IPv4 address; use 127.0.0.1 or 0.0.0.0")
        }
        let flags = MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
        guard
            let daemon = cmicrohttpd_start(
                flags, &address, Self.access, context.toOpaque(), Self.completed, Self.connected)
        else {
            throw Failure(
                description:
                    "http-port: \(configuration.host):\(configuration.port) cannot be listened on; is it in use?")
        }
        self.daemon = daemon
        port = UInt16(cmicrohttpd_port(daemon))
    }

    deinit {
        context.takeUnretainedValue().continuation.finish()
        // Whoever is suspended must go on before the daemon may stop.
        MHD_stop_daemon(daemon)
        context.release()
    }

    private static func address(_ configuration: Configuration) -> sockaddr_in? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = configuration.port.bigEndian
        guard inet_pton(AF_INET, configuration.host, &address.sin_addr) == 1 else { return nil }
        return address
    }

    /// Answers requests until shutdown, then those that are under way.
    package func run() async throws {
        // Until the scope ends.
        async let _ = hangUpOnTheSlow()
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                var begun = 0
                for await exchange in exchanges {
                    // Those that are done already are taken from the group one by one, too.
                    if begun >= configuration.concurrency { await group.next() }
                    begun += 1
                    group.addTask { await self.answer(exchange) }
                }
            }
        } onGracefulShutdown: {
            self.context.takeUnretainedValue().continuation.finish()
        }
    }

    private func hangUpOnTheSlow() async {
        while !Task.isCancelled {
            do { try await Task.sleep(for: configuration.patience / 10) } catch { return }
            context.takeUnretainedValue().callers.hangUp(onThoseSince: .now - configuration.patience)
        }
    }

    private func answer(_ exchange: Exchange) async {
        let busy = HTTPServerResponse(status: 503, text: "busy\n")
        let end = exchange.wholeAt + configuration.deadline
        guard ContinuousClock.now < end else { return exchange.answer(busy) }
        let response = await withTaskGroup(of: HTTPServerResponse?.self) { group in
            group.addTask { await self.handler(exchange.request) }
            group.addTask {
                do { try await Task.sleep(until: end, clock: .continuous) } catch { return nil }
                return busy
            }
            var answer: HTTPServerResponse?
            while answer == nil, let next = await group.next() { answer = next }
            group.cancelAll()
            return answer ?? busy
        }
        exchange.answer(response)
    }
}
