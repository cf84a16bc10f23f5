import Domain
import Testing

@Suite struct RouteHealthTests {
    private static let start = Instant(microseconds: 1_900_000_000_000_000)

    /// Notes signs a span apart and gives the number of the one that opened the breaker.
    private func opening(
        _ signs: [RouteHealth.Sign], every span: Duration = .milliseconds(1), onTrial: Bool = false
    ) -> Int? {
        var health = RouteHealth(isOnTrial: onTrial)
        for (index, sign) in signs.enumerated() {
            if health.note(sign, at: Self.start + span * index) != nil { return index + 1 }
        }
        return nil
    }

    private func times(_ count: Int, _ sign: RouteHealth.Sign) -> [RouteHealth.Sign] {
        Array(repeating: sign, count: count)
    }

    @Test func `fifty faults answered in a row open it`() {
        #expect(opening(times(60, .fails(.fcmUnavailable))) == 50)
        #expect(opening(times(49, .fails(.fcmUnavailable)) + [.works] + times(49, .fails(.fcmUnavailable))) == nil)
    }

    @Test func `a connection that takes hundreds of requests with it does not, silence that lasts does`() {
        #expect(opening(times(400, .isSilent(.connectionLost))) == nil)
        #expect(opening(times(400, .isSilent(.connectionLost)), every: .milliseconds(50)) == 41)
        #expect(opening(times(400, .isSilent(.timedOut)), every: .milliseconds(500)) == 20)
    }

    @Test func `half of a hundred answers being faults opens it, a few per cent do not`() {
        let half = (0..<200).map { $0 % 2 == 0 ? RouteHealth.Sign.fails(.fcmInternal) : .works }
        #expect(opening(half) == 101)
        let few = (0..<5000).map { $0 % 30 == 0 ? RouteHealth.Sign.fails(.fcmInternal) : .works }
        #expect(opening(few) == nil)
    }

    @Test func `faults long ago are forgotten`() {
        var health = RouteHealth()
        for index in 0..<45 {
            #expect(health.note(.fails(.fcmInternal), at: Self.start + .milliseconds(index)) == nil)
        }
        #expect(health.note(.works, at: Self.start + .seconds(1)) == nil)
        let later = (0..<100).map { $0 % 3 == 0 ? RouteHealth.Sign.fails(.fcmInternal) : .works }
        for (index, sign) in later.enumerated() {
            #expect(health.note(sign, at: Self.start + (.seconds(12) + .milliseconds(index))) == nil)
        }
    }

    @Test func `answers that no job can have caused open it soon`() {
        #expect(opening(times(9, .isMisled(.fcmProxyError))) == 5)
        #expect(opening([.isMisled(.fcmProxyError), .works, .isMisled(.fcmProxyError), .works]) == nil)
    }

    @Test func `a route on trial has five requests, until one works`() {
        #expect(opening(times(9, .isSilent(.connectionLost)), onTrial: true) == 5)
        #expect(opening([.works] + times(9, .isSilent(.connectionLost)), onTrial: true) == nil)
    }

    @Test(
        arguments: [
            (Answer.delivered(messageID: nil), RouteHealth.Sign.works),
            (.unregistered(.fcmUnregistered, since: nil), .works),
            (.refused(.fcmInvalidArgument), .works), (.slowDown(.fcmQuotaExceeded, after: nil), .works),
            (.wrongProject(.fcmSenderIDMismatch), .works), (.credential(.fcmUnauthenticated), nil),
            (.retry(.fcmUnavailable, after: nil), .fails(.fcmUnavailable)),
            (.config(.fcmProxyError), .isMisled(.fcmProxyError)),
        ] as [(Answer, RouteHealth.Sign?)])
    func `each class of answers says one thing of the route`(answer: Answer, sign: RouteHealth.Sign?) {
        let ticket = Ticket(batch: 1, ordinal: 0)
        #expect(RouteHealth.Sign(SendResult(ticket: ticket, fate: .answered(answer), status: 500)) == sign)
        #expect(RouteHealth.Sign(SendResult(ticket: ticket, fate: .answered(answer))) == nil)
    }

    @Test func `a quota of the project slows the route down and costs no attempt, one of a device is the job's own`() {
        let ticket = Ticket(batch: 1, ordinal: 0)
        func ruling(_ answer: Answer) -> Verdict.Ruling? {
            guard
                case .record(let ruling) = Verdict(
                    SendResult(ticket: ticket, fate: .answered(answer), status: 429))
            else { return nil }
            return ruling
        }
        let project = ruling(.slowDown(.fcmQuotaExceeded, after: .seconds(60)))
        #expect(project?.slowsRoute == true && project?.charged == false && project?.wait == .seconds(60))
        let device = ruling(.slowDown(.fcmDeviceQuotaExceeded, after: nil))
        #expect(device?.slowsRoute == false && device?.charged == true)
        let config = ruling(.config(.fcmProxyError))
        #expect(config?.pausesCredential == false && config?.charged == false && config?.outcome == nil)
    }
}
