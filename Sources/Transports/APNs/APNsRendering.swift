import Crypto
import Domain
import HTTP2

/// The requests of some jobs, apart by Apple's environment, and the results of those that get none.
struct APNsRendering {
    private(set) var production: [HTTP2Request] = []
    private(set) var sandbox: [HTTP2Request] = []
    private(set) var refused: [SendResult] = []

    private static let pathPrefix = Array("/3/device/".utf8)
    private static let digits = 32...512

    /// - Parameters:
    ///   - scope: the environments that the key is for.
    ///   - now: the database's.
    init(_ jobs: [OutgoingJob], of message: APNsPreparedMessage, scope: APNsKey.Scope, now: Instant) {
        production.reserveCapacity(jobs.count)
        for job in jobs {
            let index = message.body(for: job.language)
            do throws(Refusal) {
                let environment = try Self.environment(of: job, scope)
                let path = try Self.path(to: job.address.text)
                let (body, refusal) = message.render(job, body: index)
                if let refusal { throw Refusal(answer: .refused(refusal)) }
                let request = HTTP2Request(
                    id: FCMRequestID(ticket: job.ticket, body: index).rawValue, path: path,
                    fields: Self.fields(of: job, message, now), body: body)
                if environment == .sandbox { sandbox.append(request) } else { production.append(request) }
            } catch {
                refused.append(
                    SendResult(
                        ticket: job.ticket, fate: .answered(error.answer), language: message.bodies[index].language))
            }
        }
    }

    private struct Refusal: Error { let answer: Answer }

    /// Where an address is tried first. One of the other environment than the key's is not dead, only not the key's.
    private static func environment(
        of job: OutgoingJob, _ scope: APNsKey.Scope
    ) throws(Refusal) -> PushEnvironment {
        if scope == .both, case .otherEnvironment(let environment) = job.secondTry { return environment }
        return switch (scope, job.address.environment) {
        case (.both, .unknown), (.both, .production), (.production, .unknown), (.production, .production): .production
        case (.both, .sandbox), (.sandbox, .unknown), (.sandbox, .sandbox): .sandbox
        case (.production, .sandbox), (.sandbox, .production):
            throw Refusal(answer: .wrongProject(.apnsBadEnvironmentKeyID))
        }
    }

    /// The token in lower case. Nothing else may stand in a path.
    private static func path(to token: String) throws(Refusal) -> [UInt8] {
        var path = pathPrefix
        let utf8 = token.utf8
        guard digits.contains(utf8.count), utf8.count.isMultiple(of: 2) else {
            throw Refusal(answer: .refused(.apnsBadDeviceToken))
        }
        path.reserveCapacity(path.count + utf8.count)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): path.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): path.append(byte | 0x20)
            default: throw Refusal(answer: .refused(.apnsBadDeviceToken))
            }
        }
        return path
    }

    /// What requests of one message share. Apple asks that the token stay out of the compression table.
    /// - Parameter topic: the key's, without a push type's suffix.
    static func sharedFields(
        of message: APNsPreparedMessage, topic: String, authorization: String
    ) -> [HTTP2Field] {
        [
            HTTP2Field("authorization", authorization),
            HTTP2Field("apns-topic", topic + message.pushType.topicSuffix, noIndex: false),
            HTTP2Field("apns-push-type", message.pushType.rawValue, noIndex: false),
            HTTP2Field("apns-priority", message.priority, noIndex: false),
        ]
    }

    /// What one request has of its own.
    static func fields(of job: OutgoingJob, _ message: APNsPreparedMessage, _ now: Instant) -> [HTTP2Field] {
        let identity = job.identity.text
        let expiration: [UInt8]
        switch message.expiration {
        case .fixed(let fixed): expiration = fixed
        case .remaining where job.remainingSeconds > 0:
            var text: [UInt8] = []
            Decimal.append(now.seconds + job.remainingSeconds, to: &text)
            expiration = text
        case .immediate, .remaining: expiration = [UInt8(ascii: "0")]
        }
        return [
            HTTP2Field("apns-id", apnsID(of: identity)),
            HTTP2Field("apns-expiration", expiration),
            // A key that many jobs share is worth a place in the compression table.
            message.collapseID.map { HTTP2Field("apns-collapse-id", $0, noIndex: false) }
                ?? HTTP2Field("apns-collapse-id", identity),
        ]
    }

    static func apnsID(of identity: String) -> String {
        UUIDv5.make(namespace: APNsTransport.namespace, name: identity)
    }
}
