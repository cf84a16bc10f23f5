import Crypto
import Domain
import FoundationEssentials
import HTTP2
import Logging
import Threading

/// The way out through the browsers' push services with one app's VAPID keys (RFC 8030, 8291, 8292): one request for
/// each job, to the host that its subscription names.
package final class WebPushTransport: Transport {
    private let service: WebPushService
    private let configuration: WebPushConfiguration
    private let keys: VAPIDKeyring
    private let logger: Logger
    private let origins: Locked<WebPushOrigins>
    private let sealer: Locked<EncryptedContent.Sealer>

    /// A VAPID key, and the credential that subscriptions name it by.
    package struct Key: Sendable {
        let place: VAPIDKeyring.Place

        /// - Parameter contact: a `mailto:` or `https:` URI.
        package init(id: Credential.ID, path: String, contact: String) {
            place = VAPIDKeyring.Place(id: id, path: path, contact: contact)
        }
    }

    /// - Parameters:
    ///   - newest: signs for subscriptions that name no key; `others` for those that name them.
    /// - Throws: `VAPIDKeyInvalid` when the newest cannot be used.
    package init(
        service: WebPushService, newest: Key, others: [Key] = [], configuration: WebPushConfiguration, logger: Logger
    ) throws {
        self.service = service
        self.configuration = configuration
        self.logger = logger
        keys = try VAPIDKeyring(newest: newest.place, others: others.map(\.place))
        origins = Locked(WebPushOrigins(limit: configuration.maximumOrigins))
        sealer = Locked(try EncryptedContent.Sealer())
    }

    /// Looks for changed key files until the task is cancelled.
    package func run() async throws {
        let wakeup = Wakeup()
        while !Task.isCancelled {
            await wakeup.wait(until: .now + .seconds(10))
            keys.reload()
        }
    }

    package func prepare(_ content: ContentVersion) throws -> any PreparedMessage {
        WebPushMessageCompiler(content, options: configuration.options).compile()
    }

    /// How its connections stand, to each of the hosts spoken to.
    package var traffic: [HTTP2ClientStatistics] { origins.withLock(\.all).map(\.client.statistics) }

    /// That of the hosts spoken to; before the first, of one.
    package var capacity: Int {
        let one = configuration.maximumConnections * configuration.streamsPerConnection
        let all = origins.withLock(\.all).reduce(0) { $0 + $1.client.capacity }
        return min(max(all, one), 4 * one)
    }

    package func close(by deadline: ContinuousClock.Instant) async {
        await withTaskGroup { group in
            for origin in origins.withLock(\.all) { group.addTask { await origin.client.close(by: deadline) } }
        }
    }

    package func send(
        _ jobs: [OutgoingJob], of message: any PreparedMessage, beginBefore: ContinuousClock.Instant,
        to sink: @escaping ResultSink
    ) {
        guard let message = message as? WebPushPreparedMessage else {
            preconditionFailure("a message is sent by the transport that prepared it")
        }
        guard !message.bodies.isEmpty else {
            return sink(jobs.map { SendResult(ticket: $0.ticket, fate: .answered(.refused(.webSilent))) })
        }
        var refused: [SendResult] = []
        let submissions = assemble(jobs, of: message, &refused)
        if !refused.isEmpty { sink(refused) }
        let results = WebPushResults(message: message, service: service)
        for submission in submissions {
            let origin = submission.origin
            origin.client.submit(
                submission.requests, shared: submission.fields, beginBefore: beginBefore,
                deadline: configuration.requestDeadline
            ) {
                origin.end($0.count)
                sink(results.convert($0))
            }
        }
    }

    // MARK: Rendering

    /// Requests that go to one host under one key.
    private struct Submission {
        let origin: WebPushOrigin
        let key: Credential.ID
        let fields: HTTP2FieldBlock
        var requests: [HTTP2Request] = []
    }

    private struct Refusal: Error {
        let fate: SendResult.Fate
        init(_ answer: Answer) { fate = .answered(answer) }
    }

    private func assemble(
        _ jobs: [OutgoingJob], of message: WebPushPreparedMessage, _ refused: inout [SendResult]
    ) -> [Submission] {
        let now = Int64(Date().timeIntervalSince1970)
        var submissions: [Submission] = []
        for job in jobs {
            let index = message.body(for: job.language)
            do throws(Refusal) {
                let endpoint = try self.endpoint(of: job.address)
                // The text first: what cannot be sent costs no key and no place among the hosts.
                let body = try sealed(job, of: message, body: index)
                let place = try place(for: endpoint, job.address.vapidKey, message.headers, now, &submissions)
                let id = WebPushRequestID(ticket: job.ticket, body: index)
                let fields = message.headers.fields(of: job, service)
                submissions[place].origin.begin(1)
                submissions[place].requests.append(
                    HTTP2Request(id: id.rawValue, path: endpoint.path, fields: fields, body: body))
            } catch {
                refused.append(
                    SendResult(ticket: job.ticket, fate: error.fate, language: message.bodies[index].language))
            }
        }
        return submissions
    }

    /// Looked at again each time: the list of hosts may have become shorter.
    private func endpoint(of address: Address) throws(Refusal) -> WebPushEndpoint {
        guard configuration.endpoints.fault(in: address.text) == nil, let endpoint = WebPushEndpoint(address.text)
        else { throw Refusal(.refused(.webpushEndpointRefused)) }
        return endpoint
    }

    private func sealed(
        _ job: OutgoingJob, of message: WebPushPreparedMessage, body index: Int
    ) throws(Refusal) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(message.bodies[index].literalBytes + WebPushPreparedMessage.usualVariableBytes)
        if let reason = message.append(job, body: index, to: &text) { throw Refusal(.refused(reason)) }
        guard let recipient = EncryptedContent.Recipient(job.address) else {
            throw Refusal(.refused(.webpushKeysInvalid))
        }
        let padding = configuration.options.isPadded ? WebPushPadding.bytes(for: text.count) : 0
        do {
            return try sealer.withLock { sealer throws(CryptoError) in
                try sealer.seal(text, for: recipient, padding: padding)
            }
        } catch {
            throw Refusal(.refused(.webpushKeysInvalid))
        }
    }

    /// Index of the submission that a request to `endpoint` joins.
    private func place(
        for endpoint: WebPushEndpoint, _ key: Credential.ID?, _ headers: WebPushPreparedMessage.Headers, _ now: Int64,
        _ submissions: inout [Submission]
    ) throws(Refusal) -> Int {
        guard let (id, entry) = keys.entry(for: key) else { throw Refusal(.retry(.credentialUnusable, after: nil)) }
        let origin = origins.withLock { origins in
            origins.use(endpoint.origin) {
                WebPushOrigin(
                    client: HTTP2Client(
                        origin: endpoint.origin, configuration: configuration.http2, logger: logger),
                    audience: endpoint.audience, service: service)
            }
        }
        guard let origin else { throw Refusal(.retry(.webpushCrowded, after: nil)) }
        if let known = submissions.firstIndex(where: { $0.origin === origin && $0.key == id }) { return known }
        do {
            let fields = try origin.fields(id, entry, headers.urgency, now: now)
            submissions.append(Submission(origin: origin, key: id, fields: fields))
            return submissions.count - 1
        } catch {
            throw Refusal(.credential(.credentialUnusable))
        }
    }
}

extension WebPushPreparedMessage.Headers {
    /// What one request has of its own (RFC 8030 §5).
    func fields(of job: OutgoingJob, _ service: WebPushService) -> [HTTP2Field] {
        var life = min(max(job.remainingSeconds, service.smallestTTL), 2_419_200)
        if let longestLife { life = min(life, max(longestLife, service.smallestTTL)) }
        var digits: [UInt8] = []
        Decimal.append(life, to: &digits)
        return [HTTP2Field("ttl", digits), HTTP2Field("topic", topic ?? WebPushTopic.of(job.identity.text))]
    }
}
