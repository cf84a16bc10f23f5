import Crypto
import Domain
import HTTP2
import Logging
import Threading

/// The way out through APNs with one signing key (apns.md): one request for each job, over few HTTP/2 connections to each
/// of Apple's two environments.
///
/// `run` keeps the provider token; the owner runs it beside whatever sends. Sending never waits for it.
package final class APNsTransport: Transport {
    /// Of the job ids' name space: fixed, so that a job keeps its `apns-id` through every retry and release.
    static let namespace: [UInt8] = [
        0x2b, 0x6f, 0x10, 0x5e, 0x4c, 0x0d, 0x5a, 0x7f, 0x9e, 0x31, 0x86, 0xd4, 0x77, 0xc2, 0x1b, 0xa8,
    ]

    let tokens: AccessTokens
    let source: APNsTokenSource
    let requestDeadline: Duration
    private let production: HTTP2Client
    private let sandbox: HTTP2Client
    private let choice = Locked(APNsTokenChoice())

    /// - Parameters:
    ///   - credential: whose row holds the provider token.
    ///   - keyFile: path of the credential file, read again when it or the key changes.
    ///   - worker: who this process is to the other workers that share the token.
    ///   - tokens: where the fleet keeps it.
    /// - Throws: `KeyFileProblems`, `APNsEndpointInvalid`.
    package init(
        credential: Credential.ID, keyFile: String, worker: WorkerID, tokens store: any AccessTokenStore,
        configuration: APNsConfiguration, logger: Logger
    ) throws {
        let file = try APNsKeyReading(path: keyFile)
        source = APNsTokenSource(file: file)
        tokens = AccessTokens(
            credential: credential, worker: worker, source: source, store: store, configuration: configuration.tokens,
            logger: logger)
        production = HTTP2Client(
            origin: try configuration.origin(.production, file.key), configuration: configuration.http2, logger: logger)
        sandbox = HTTP2Client(
            origin: try configuration.origin(.sandbox, file.key), configuration: configuration.http2, logger: logger)
        requestDeadline = configuration.requestDeadline
    }

    /// Keeps the provider token fresh until the task is cancelled.
    package func run() async throws { await tokens.run() }

    /// Waits for the first provider token; `run` must be running.
    /// - Throws: `AccessTokenRefused`, `CancellationError`.
    package func ready() async throws { try await tokens.ready() }

    package func prepare(_ content: ContentVersion) throws -> any PreparedMessage {
        APNsMessageCompiler(content).compile()
    }

    /// Zero while the provider token is awaited: nothing could leave then. That of the environment most jobs go to.
    package var capacity: Int {
        if case .awaited = tokens.use() { return 0 }
        return source.key.scope == .sandbox ? sandbox.capacity : production.capacity
    }

    /// How its connections stand, to either environment.
    package var traffic: [HTTP2ClientStatistics] { [production.statistics, sandbox.statistics] }

    package func close(by deadline: ContinuousClock.Instant) async {
        async let first: Void = production.close(by: deadline)
        await sandbox.close(by: deadline)
        await first
    }

    package func send(
        _ jobs: [OutgoingJob], of message: any PreparedMessage, beginBefore: ContinuousClock.Instant,
        to sink: @escaping ResultSink
    ) {
        guard let message = message as? APNsPreparedMessage else {
            preconditionFailure("a message is sent by the transport that prepared it")
        }
        let now = ContinuousClock.now
        switch tokens.use() {
        case .usable(let newest):
            let token = token(newest, at: now)
            if jobs.allSatisfy({ $0.secondTry == nil }) {
                submit(jobs, of: message, token, secondTry: nil, at: now, beginBefore: beginBefore, to: sink)
            } else {
                for (second, jobs) in Dictionary(grouping: jobs, by: \.secondTry) {
                    submit(jobs, of: message, token, secondTry: second, at: now, beginBefore: beginBefore, to: sink)
                }
            }
        case .awaited: sink(jobs.map { SendResult(ticket: $0.ticket, fate: .notSent(.apnsProviderTokenAwaited)) })
        case .refused(let answer): sink(jobs.map { SendResult(ticket: $0.ticket, fate: .answered(answer)) })
        }
    }

    private func submit(
        _ jobs: [OutgoingJob], of message: APNsPreparedMessage, _ token: TokenState.Installed, secondTry: SecondTry?,
        at now: ContinuousClock.Instant, beginBefore: ContinuousClock.Instant, to sink: @escaping ResultSink
    ) {
        let rendered = APNsRendering(jobs, of: message, scope: source.key.scope, now: token.clock.instant(at: now))
        if !rendered.refused.isEmpty { sink(rendered.refused) }
        for (environment, requests) in [
            (PushEnvironment.production, rendered.production), (.sandbox, rendered.sandbox),
        ] where !requests.isEmpty {
            APNsSubmission(
                transport: self, message: message, jobs: jobs, requests: requests, environment: environment,
                token: token, beginBefore: beginBefore, sink: sink, secondTry: secondTry
            ).begin()
        }
    }

    func client(_ environment: PushEnvironment) -> HTTP2Client {
        switch environment {
        case .sandbox: sandbox
        case .production, .unknown: production
        }
    }

    /// What requests with this token share.
    func shared(_ message: APNsPreparedMessage, _ token: TokenState.Installed) -> HTTP2FieldBlock {
        HTTP2FieldBlock(
            APNsRendering.sharedFields(
                of: message, topic: source.key.topic, authorization: "bearer \(token.token.text)"))
    }

    // MARK: The provider token

    private func token(_ newest: TokenState.Installed, at now: ContinuousClock.Instant) -> TokenState.Installed {
        let (token, isOtherKey) = choice.withLock { $0.choose(newest, at: now) }
        if isOtherKey { for client in [production, sandbox] { client.renewConnections(madeBy: now) } }
        return token
    }

    func holdBack(_ token: TokenState.Installed) { choice.withLock { $0.holdBack(token.generation, at: .now) } }

    /// APNs judged the token too old.
    /// - Returns: nil when it is replaced and the job goes again, free of charge.
    func expire(_ token: TokenState.Installed, at now: ContinuousClock.Instant) -> Answer? {
        let fault = Answer.credential(.apnsExpiredProviderToken)
        // A new one every few minutes would be refused as well: the clock is wrong, here or in the database.
        guard token.age(at: now) >= APNsTokenSource.shortestRenewal else { return fault }
        choice.withLock { $0.expire(token.generation) }
        return switch tokens.reject(token.generation) {
        case .replaced: nil
        case .credentialFault: fault
        }
    }
}
