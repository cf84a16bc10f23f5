import Domain
import Testing

@testable import Transports

@Suite struct FCMClassifierTests {
    private func classify(_ row: FCMErrorRow) -> Answer {
        let response = FCMClassifier.Response(
            status: row.status, retryAfter: row.headers["retry-after"],
            date: row.headers["date"], body: Array(row.body.utf8))
        return FCMClassifier.classify(response, now: 0)
    }

    @Test func `the table of answers is there`() {
        #expect(FCMErrorTable.answered.count >= 60)
        #expect(FCMErrorTable.unanswered.count >= 6)
    }

    @Test(arguments: FCMErrorTable.answered) func `every answer gets its class`(row: FCMErrorRow) {
        #expect(classify(row).className == row.class)
    }

    /// An address may be retired for `unregistered` and for nothing else.
    @Test(arguments: FCMErrorTable.answered) func `an address is given up for no other answer`(row: FCMErrorRow) {
        let retires = if case .unregistered = classify(row) { true } else { false }
        #expect(retires == row.retire)
    }

    @Test(arguments: FCMErrorTable.answered) func `every answer waits as long as it must`(row: FCMErrorRow) throws {
        let wait = classify(row).wait
        switch row.wait {
        case nil: #expect(wait == nil)
        case "backoff": #expect(wait == nil)
        case "retry_after":
            let seconds = row.headers["retry-after"].flatMap { Int($0) } ?? 120  // the row with a date is 120 s later
            #expect(wait == .seconds(seconds))
        case let seconds?: #expect(wait == .seconds(try #require(Int(seconds))))
        }
    }

    /// Only the 401 that is about our own token is repaired by another one.
    @Test(arguments: FCMErrorTable.answered) func `a new access token is fetched for no other answer`(row: FCMErrorRow)
    {
        #expect((classify(row) == .credential(.fcmUnauthenticated)) == (row.repair == "refresh_access_token"))
    }

    @Test(arguments: FCMErrorTable.answered.filter { $0.class == "credential" })
    func `what concerns a project's Apple and web targets pauses nothing else`(row: FCMErrorRow) {
        let result = SendResult(
            ticket: Ticket(batch: 1, ordinal: 0), fate: .answered(classify(row)), status: Int16(row.status))
        guard case .record(let ruling) = Verdict(result) else {
            Issue.record("nothing is recorded")
            return
        }
        #expect(ruling.pausesCredential == (row.scope != "project_apple_web"))
    }

    @Test(arguments: FCMErrorTable.answered.filter { $0.class == "slow_down" })
    func `one device's quota is told from the project's`(row: FCMErrorRow) {
        let isDevice = if case .slowDown(.fcmDeviceQuotaExceeded, _) = classify(row) { true } else { false }
        #expect(isDevice == (row.scope == "device"))
    }

    /// Any prefix of any body is classified, and none that is cut retires an address unless the whole one does.
    @Test(arguments: FCMErrorTable.answered) func `a cut body never retires an address`(row: FCMErrorRow) {
        for length in stride(from: 0, to: row.body.utf8.count, by: 7) {
            let cut = FCMClassifier.Response(
                status: row.status, retryAfter: nil, date: nil, body: Array(row.body.utf8.prefix(length)))
            if case .unregistered = FCMClassifier.classify(cut, now: 0) { Issue.record("cut at \(length)") }
        }
    }

    @Test(arguments: [
        #"{"error":null}"#, #"{"error":{"message":7,"details":{}}}"#, #"{"error":{"details":[1,"x",null,[]]}}"#,
        #"[]"#, #"[[]]"#, #""UNREGISTERED""#, #"{"error":"UNREGISTERED"}"#, #"{"errorCode":"UNREGISTERED"}"#,
    ])
    func `a body of another shape counts as unreadable`(body: String) {
        let response = FCMClassifier.Response(status: 404, body: Array(body.utf8))
        #expect(FCMClassifier.classify(response, now: 0) == .config(.fcmNotFound))
    }

    @Test func `a member of another type spoils no other`() {
        let body = #"""
            {"error":{"message":[],"details":[{"@type":7},{"@type":"x.FcmError","errorCode":"UNREGISTERED",
            "fieldViolations":{},"statusCode":"410","retryDelay":5}]}}
            """#
        let response = FCMClassifier.Response(status: 404, body: Array(body.utf8))
        #expect(FCMClassifier.classify(response, now: 0) == .unregistered(.fcmUnregistered, since: nil))
    }

    @Test func `a code of another kind of detail is not FCM's`() {
        let body = #"{"error":{"details":[{"@type":"x.ErrorInfo","errorCode":"UNREGISTERED"}]}}"#
        let response = FCMClassifier.Response(status: 404, body: Array(body.utf8))
        #expect(FCMClassifier.classify(response, now: 0) == .config(.fcmNotFound))
    }

    @Test(
        arguments: [
            (#"{"name":"projects/ferry-test/messages/0:17%aa"}"#, "0:17%aa"),
            ("{ \"name\" :\n \"projects/ferry-test/messages/fake_message_id\" }", "fake_message_id"),
            (#"{"name":"plain"}"#, "plain"), (#"{"other":"name","name":"a/b"}"#, "b"),
            (#"{"name":"projects/x/messages/"}"#, nil), (#"{"name":"a\/b"}"#, nil), (#"{"name":7}"#, nil),
            (#"{"name":"projects/x"#, nil), (#"{"name""#, nil), ("", nil), ("<html>", nil),
        ] as [(String, String?)])
    func `the message's id is read from a success`(body: String, id: String?) {
        let response = FCMClassifier.Response(status: 200, body: Array(body.utf8))
        #expect(FCMClassifier.classify(response, now: 0) == .delivered(messageID: id))
    }
}
