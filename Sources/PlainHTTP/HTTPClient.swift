import CCurl
import Logging
import Threading

/// Sends plain requests, one at a time, on a thread of its own. Redirects are answers like any other and are never
/// followed; proxies are taken from the environment (`https_proxy`, `no_proxy`), as libcurl reads it.
package actor HTTPClient {
    package struct Configuration: Sendable {
        /// A file of PEM certificates to trust instead of the system's.
        package var trustFile: String?
        /// Longest body that is taken; past it the request fails.
        package var maximumBodyBytes = 1 << 20
        /// For servers of tests only: secrets must not travel in the clear.
        package var allowsPlainText = false

        package init() {}
    }

    private let executor = ThreadExecutor(name: "plain-http")
    private let configuration: Configuration
    /// Keeps connections for the next request. Opened by the first.
    private var session: CurlSession?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    package init(configuration: Configuration = Configuration()) { self.configuration = configuration }

    deinit { executor.shutdown() }

    /// - Parameter timeout: for the whole exchange, from connecting to the last byte.
    /// - Throws: `HTTPClientError` when there is no answer; `.cancelled` soon after the task was.
    package func execute(
        _ request: HTTPClientRequest, timeout: Duration, logger: Logger
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        let session = try opened()
        let transfer = try CurlTransfer(request, configuration: configuration, timeout: timeout)
        let status = try session.perform(transfer)
        let response = transfer.collected.response(status: status)
        logger.debug(
            "Plain request answered", metadata: ["status": "\(status)", "bytes": "\(response.body.count)"])
        return response
    }

    private func opened() throws(HTTPClientError) -> CurlSession {
        if let session { return session }
        let opened = try CurlSession()
        session = opened
        return opened
    }
}
