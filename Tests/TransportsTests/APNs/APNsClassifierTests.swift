import Domain
import Testing

@testable import Transports

@Suite struct APNsClassifierTests {
    private func classify(_ row: APNsErrorRow, body: [UInt8]? = nil) -> Answer {
        let response = APNsClassifier.Response(
            status: row.status, retryAfter: row.headers["retry-after"], date: row.headers["date"],
            body: body ?? Array(row.body.utf8))
        return APNsClassifier.classify(
            response,
            APNsClassifier.Circumstances(
                environmentIsProven: row.environmentKnown,
                sentAt: Instant(microseconds: (row.sentAtMs ?? 1_774_000_005_000) * 1000)))
    }

    /// What the store makes of an answer: an address that registered since is kept.
    private func retires(_ answer: Answer, registeredAtMs: Int64?) -> Bool {
        guard case .unregistered(_, let since) = answer else { return false }
        guard let since, let registeredAtMs else { return true }
        return Instant(microseconds: registeredAtMs * 1000) < since
    }

    @Test func `the table of answers is there`() {
        #expect(APNsErrorTable.answered.count >= 50)
        #expect(APNsErrorTable.unanswered.count >= 6)
    }

    @Test(arguments: APNsErrorTable.answered) func `every answer gets its class`(row: APNsErrorRow) {
        #expect(classify(row).className == row.class)
    }

    @Test(arguments: APNsErrorTable.answered) func `an address is given up on evidence that is newer than it`(
        row: APNsErrorRow
    ) {
        #expect(retires(classify(row), registeredAtMs: row.registeredAtMs) == row.retire)
    }

    @Test(arguments: APNsErrorTable.answered) func `every answer waits as long as it must`(row: APNsErrorRow) throws {
        let wait = classify(row).wait
        switch row.wait {
        case "now" where row.class == "retry": #expect(wait == .zero)
        case nil, "backoff", "now": #expect(wait == nil)
        case "retry_after": #expect(wait == .seconds(try #require(Int(row.headers["retry-after"] ?? ""))))
        case let seconds?: #expect(wait == .seconds(try #require(Int(seconds))))
        }
    }

    @Test(arguments: APNsErrorTable.answered) func `each documented reason has a name of its own`(row: APNsErrorRow) {
        guard let reason = row.reason, reason != "SomethingNew", row.status != 200, reason != "baddevicetoken" else {
            return
        }
        let own: Reason? =
            switch classify(row) {
            case .delivered: nil
            case .unregistered(let reason, _), .refused(let reason), .retry(let reason, _), .slowDown(let reason, _),
                .credential(let reason), .wrongProject(let reason), .config(let reason):
                reason
            }
        // `BadDeviceToken` and `apns_bad_device_token`; Apple's ids are `Id`.
        let words = own?.name.dropFirst("apns_".count).split(separator: "_").joined() ?? ""
        #expect(reason.lowercased().hasPrefix(words))
    }

    /// Any prefix of any body is classified, and half a reason proves nothing.
    @Test(arguments: APNsErrorTable.answered.filter { $0.status != 410 })
    func `a cut body never retires an address`(row: APNsErrorRow) {
        for length in 0..<max(0, row.body.utf8.count - 1) {
            let answer = classify(row, body: Array(row.body.utf8.prefix(length)))
            if case .unregistered = answer { Issue.record("cut at \(length)") }
        }
    }

    @Test(arguments: [
        #"[]"#, #"null"#, #""BadDeviceToken""#, #"{"reason":7}"#, #"{"reason":["BadDeviceToken"]}"#,
        #"{"Reason":"BadDeviceToken"}"#,
    ])
    func `a body of another shape counts as unreadable`(body: String) {
        let response = APNsClassifier.Response(status: 400, body: Array(body.utf8))
        let known = APNsClassifier.Circumstances(environmentIsProven: true, sentAt: Instant(microseconds: 0))
        #expect(APNsClassifier.classify(response, known) == .refused(.apnsBadRequest))
    }

    @Test(
        arguments: [
            (302, .config(.apnsProxyError)), (401, .credential(.apnsUnexpectedStatus)),
            (402, .refused(.apnsUnexpectedStatus)), (408, .retry(.apnsProxyError, after: nil)),
            (504, .retry(.apnsProxyError, after: .seconds(900))), (201, .refused(.apnsUnexpectedStatus)),
        ] as [(Int, Answer)])
    func `a status that Apple does not document is judged by its kind`(status: Int, expected: Answer) {
        let answer = APNsClassifier.classify(
            APNsClassifier.Response(status: status, body: []), .init(sentAt: Instant(microseconds: 0)))
        #expect(answer == expected)
    }

    @Test func `a timestamp beyond all time counts as none`() {
        let body = Array(#"{"reason":"Unregistered","timestamp":9223372036854775807}"#.utf8)
        let sentAt = Instant(microseconds: 5)
        let answer = APNsClassifier.classify(.init(status: 410, body: body), .init(sentAt: sentAt))
        #expect(answer == .unregistered(.apnsUnregistered, since: sentAt))
    }
}
