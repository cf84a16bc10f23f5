import Testing

@testable import Domain

@Suite struct VerdictTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var fate: SendResult.Fate
        var status: Int16? = 200
        var expected: Verdict
        var testDescription: String { "\(fate)" }
    }

    private static func ruling(
        _ outcome: Outcome?, _ reason: Reason, charged: Bool = true, mayHaveLeft: Bool = false, wait: Duration? = nil,
        pauses: Bool = false, slows: Bool = false, id: String? = nil, of evidence: AddressEvidence? = nil,
        since: Instant? = nil
    ) -> Verdict {
        .record(
            Verdict.Ruling(
                outcome: outcome, reason: reason, charged: charged, mayHaveLeft: mayHaveLeft, wait: wait,
                pausesCredential: pauses, slowsRoute: slows, providerID: id, evidence: evidence, goneSince: since))
    }

    private static let cases: [Case] = [
        Case(fate: .answered(.delivered(messageID: "m1")), expected: ruling(.delivered, .none, id: "m1", of: .sound)),
        Case(
            fate: .answered(.unregistered(.fcmUnregistered, since: Fixture.now)), status: 404,
            expected: ruling(.unregistered, .fcmUnregistered, of: .gone, since: Fixture.now)),
        // About the address, not about what was sent.
        Case(
            fate: .answered(.refused(.fcmAPNsRejected)), status: 400,
            expected: ruling(.failed, .fcmAPNsRejected, of: .suspicious)),
        Case(
            fate: .answered(.refused(.fcmInvalidArgument)), status: 400,
            expected: ruling(.failed, .fcmInvalidArgument)),
        // Refused by the renderer: nothing left, and no attempt was made.
        Case(
            fate: .answered(.refused(.renderedEmpty)), status: nil,
            expected: ruling(.failed, .renderedEmpty, charged: false)),
        Case(
            fate: .answered(.retry(.fcmUnavailable, after: .seconds(30))), status: 503,
            expected: ruling(nil, .fcmUnavailable, wait: .seconds(30))),
        Case(fate: .answered(.retry(.fcmInternal, after: nil)), status: 500, expected: ruling(nil, .fcmInternal)),
        Case(
            fate: .answered(.retry(.apnsTooManyProviderTokenUpdates, after: nil)), status: 429,
            expected: ruling(nil, .apnsTooManyProviderTokenUpdates, charged: false, wait: .seconds(60))),
        Case(
            fate: .answered(.slowDown(.fcmQuotaExceeded, after: .seconds(60))), status: 429,
            expected: ruling(nil, .fcmQuotaExceeded, charged: false, wait: .seconds(60), slows: true)),
        Case(
            fate: .answered(.credential(.fcmPermissionDenied)), status: 403,
            expected: ruling(nil, .fcmPermissionDenied, charged: false, pauses: true)),
        // The project's key for Apple, or for browsers: the others' messages go on.
        Case(
            fate: .answered(.credential(.fcmThirdPartyAuth)), status: 401,
            expected: ruling(nil, .fcmThirdPartyAuth, charged: false, wait: .seconds(900))),
        Case(
            fate: .answered(.config(.fcmUnexpectedStatus)), status: 405,
            expected: ruling(nil, .fcmUnexpectedStatus, charged: false)),
        Case(
            fate: .answered(.wrongProject(.fcmSenderIDMismatch)), status: 403,
            expected: ruling(.failed, .fcmSenderIDMismatch, of: .foreign)),
        Case(fate: .notSent(.notSent), status: nil, expected: .beginAgain(.notSent)),
        Case(
            fate: .tryAgain(.otherEnvironment(.sandbox)), status: 400, expected: .beginAgain(.apnsBadDeviceToken)),
        Case(fate: .tryAgain(.otherConnection(.apnsShutdown)), status: 503, expected: .beginAgain(.apnsShutdown)),
        Case(
            fate: .mayHaveLeft(.timedOut), status: nil, expected: ruling(nil, .timedOut, mayHaveLeft: true)),
    ]

    @Test(arguments: cases) func `each class of answer has its outcome`(row: Case) {
        let ticket = Ticket(batch: 1, ordinal: 0)
        #expect(Verdict(SendResult(ticket: ticket, fate: row.fate, status: row.status)) == row.expected)
    }
}
