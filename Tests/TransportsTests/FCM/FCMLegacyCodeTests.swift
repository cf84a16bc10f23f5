import Domain
import Testing

@testable import Transports

@Suite struct FCMLegacyCodeTests {
    @Test(arguments: [
        ("BAD_REGISTRATION", "unregistered"), ("DEVICE_UNREGISTERED", "unregistered"),
        ("SENDER_ID_MISMATCH", "wrong_project"), ("INVALID_JSON", "refused"), ("DEVICE_MESSAGE_RATE", "slow_down"),
        ("DEVICE_MESSAGE_RATE_EXCEEDED", "slow_down"), ("TOPICS_MESSAGE_RATE", "slow_down"),
        ("CONNECTION_DRAINING", "retry"), ("SERVICE_UNAVAILABLE", "retry"), ("INTERNAL_SERVER_ERROR", "retry"),
        ("BAD_ACK", "config"), ("INVALID_APNS_CREDENTIAL", "credential"), ("AUTHENTICATION_FAILED", "credential"),
        ("MissingRegistration", "refused"), ("InvalidRegistration", "unregistered"),
        ("NotRegistered", "unregistered"), ("InvalidPackageName", "refused"), ("MismatchSenderId", "wrong_project"),
        ("InvalidParameters", "refused"), ("MessageTooBig", "refused"), ("InvalidDataKey", "refused"),
        ("InvalidTtl", "refused"), ("Unavailable", "retry"), ("InternalServerError", "retry"),
        ("DeviceMessageRateExceeded", "slow_down"), ("TopicsMessageRateExceeded", "slow_down"),
        ("InvalidApnsCredential", "credential"),
    ])
    func `an old code is taken for what it means today`(code: String, expected: String) throws {
        #expect(try #require(FCMLegacyCode.table.first { $0.code == code }).answerName == expected)
        let body = #"{"error":{"details":[{"@type":"x.FcmError","errorCode":"\#(code)"}]}}"#
        let answer = FCMClassifier.classify(.init(status: 400, body: Array(body.utf8)), now: 0)
        #expect(answer.className == expected)
    }

    @Test func `no old code is without a row`() {
        #expect(FCMLegacyCode.table.count == 27)
        #expect(FCMLegacyCode.table.allSatisfy { !$0.action.isEmpty && !$0.successor.isEmpty })
    }

    @Test(arguments: FCMLegacyCode.table.map(\.code)) func `no code retires an address under a 5xx`(code: String) {
        let body = #"{"error":{"details":[{"@type":"x.FcmError","errorCode":"\#(code)"}]}}"#
        for status in [500, 502, 503] {
            let answer = FCMClassifier.classify(.init(status: status, body: Array(body.utf8)), now: 0)
            #expect(answer.className != "unregistered")
        }
    }
}
