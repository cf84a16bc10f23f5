import Domain
import FoundationEssentials
import HTTP2
import Logging
import PlainHTTP
import Threading

/// The way out through FCM's HTTP v1 interface with one service account (fcm.md): one request for each job, over few
/// HTTP/2 connections.
///
/// `run` keeps the access token; the owner runs it beside whatever sends. Sending never waits for it.
package final class FCMTransport: Transport {
    private let tokens: AccessTokens
    private let client: HTTP2Client
    private let requestDeadline: Duration
    private let validateOnly: Bool
    /// What requests share, made anew for each access token.
    private let shared = Locked<Shared?>(nil)

    private struct Shared: Sendable {
        let generation: UInt64
        let path: [UInt8]
        let fields: HTTP2FieldBlock
    }

    /// - Parameters:
    ///   - credential: whose row holds the access token.
    ///   - keyFile: path of the service account's key, read again when it changes.
    ///   - worker: who this process is to the other workers that share the token.
    ///   - tokens: where the fleet keeps it.
    /// - Throws: `KeyFileProblems`, `FCMEndpointInvalid`.
    package init(
        credential: Credential.ID, keyFile: String, worker: WorkerID, tokens store: any AccessTokenStore,
        configuration: FCMConfiguration, logger: Logger
    ) throws {
        let keyFile = try KeyFileReading(path: keyFile)
        let origin = try configuration.origin()
        let exchange = OAuthExchange(client: HTTPClient(configuration: configuration.plain), logger: logger)
        tokens = AccessTokens(
            credential: credential, worker: worker, keyFile: keyFile, store: store,
            configuration: configuration.tokens, logger: logger
        ) { account, now in try await exchange.token(for: account, now: now) }
        client = HTTP2Client(origin: origin, configuration: configuration.http2, logger: logger)
        requestDeadline = configuration.requestDeadline
        validateOnly = configuration.validateOnly
    }

    /// Keeps the access token fresh until the task is cancelled.
    package func run() async throws { await tokens.run() }

    /// Waits for the first access token; `run` must be running.
    /// - Throws: `AccessTokenRefused` when none can be had until a person does something; `CancellationError`.
    package func ready() async throws { try await tokens.ready() }

    package func prepare(_ content: ContentVersion) throws -> any PreparedMessage {
        FCMMessageCompiler(content, validateOnly: validateOnly).compile()
    }

    /// Zero while the access token is awaited: nothing could leave then.
    package var capacity: Int {
        if case .awaited = tokens.use() { return 0 }
        return client.capacity
    }

    /// How its connections stand.
    package var traffic: [HTTP2ClientStatistics] { [client.statistics] }

    package func close(by deadline: ContinuousClock.Instant) async { await client.close(by: deadline) }

    package func send(
        _ jobs: [OutgoingJob], of message: any PreparedMessage, beginBefore: ContinuousClock.Instant,
        to sink: @escaping ResultSink
    ) {
        guard let message = message as? FCMPreparedMessage else {
            preconditionFailure("a message is sent by the transport that prepared it")
        }
        switch tokens.use() {
        case .usable(let token):
            let shared = shared(for: token)
            let (requests, refused) = render(
                jobs, of: message, path: shared.path, now: token.clock.instant(at: .now).seconds)
            if !refused.isEmpty { sink(refused) }
            if requests.isEmpty { return }
            let results = FCMResults(tokens: tokens, generation: token.generation, message: message)
            client.submit(requests, shared: shared.fields, beginBefore: beginBefore, deadline: requestDeadline) {
                sink(results.convert($0))
            }
        case .awaited: sink(jobs.map { SendResult(ticket: $0.ticket, fate: .notSent(.fcmUnauthenticated)) })
        case .refused(let answer): sink(jobs.map { SendResult(ticket: $0.ticket, fate: .answered(answer)) })
        }
    }

    private func render(
        _ jobs: [OutgoingJob], of message: FCMPreparedMessage, path: [UInt8], now: Int64
    ) -> (requests: [HTTP2Request], refused: [SendResult]) {
        var requests: [HTTP2Request] = []
        requests.reserveCapacity(jobs.count)
        var refused: [SendResult] = []
        for job in jobs {
            let index = message.body(for: job.language)
            let body = message.bodies[index]
            var bytes: [UInt8] = []
            bytes.reserveCapacity(body.literalBytes + FCMPreparedMessage.usualVariableBytes)
            if let reason = message.append(job, body: index, now: now, to: &bytes) {
                refused.append(
                    SendResult(ticket: job.ticket, fate: .answered(.refused(reason)), language: body.language))
            } else {
                let id = FCMRequestID(ticket: job.ticket, body: index)
                requests.append(HTTP2Request(id: id.rawValue, path: path, body: bytes))
            }
        }
        return (requests, refused)
    }

    private func shared(for token: TokenState.Installed) -> Shared {
        shared.withLock { shared in
            if let shared, shared.generation == token.generation { return shared }
            let made = Shared(
                generation: token.generation, path: Array("/v1/projects/\(token.owner)/messages:send".utf8),
                fields: HTTP2FieldBlock([
                    "authorization": "Bearer \(token.token.text)", "content-type": "application/json; charset=UTF-8",
                ]))
            shared = made
            return made
        }
    }
}
