import HTTP2
import Testing

@testable import Simulator

@Suite struct FCMEndpointTests {
    @Test func `an accepted message is answered with its name`() throws {
        let scenario = try Scenario()
        let first = scenario.send(Scenario.message("t"))
        let name = try #require(first.json?["name"]?.text)
        #expect(first.response?.status == 200)
        #expect(name.wholeMatch(of: /projects\/demo\/messages\/0:[0-9]{16}%[0-9a-f]{16}/) != nil)
        let replayed = try Scenario().send(Scenario.message("t")).json?["name"]?.text
        #expect(replayed == name, "the same seed and count give the same name")
        #expect(scenario.send(Scenario.message("t")).json?["name"]?.text != name)
    }

    @Test func `a dry run is checked, answered and not sent`() throws {
        let scenario = try Scenario()
        let answer = scenario.send(#"{"validate_only":true,"message":{"token":"t","data":{"id":"1"}}}"#)
        #expect(answer.json?["name"]?.text == "projects/demo/messages/fake_message_id")
        #expect(scenario.state.devices.totals.accepted == 0)
        let dead = scenario.send(#"{"validate_only":true,"message":{"token":"dead-1","data":{"id":"1"}}}"#)
        #expect(dead.fcmCode == "UNREGISTERED")
    }

    @Test func `who may not send learns it before the body is read`() throws {
        let scenario = try Scenario()
        let bad = "{"
        let missing = ProviderRequest(
            method: "POST", path: "", contentType: ProviderRequest.json, body: Array(bad.utf8))
        let unasked = scenario.fcm.answer(missing, project: "demo", at: scenario.clock, &scenario.state)
        #expect(unasked.response?.status == 401)
        #expect(scenario.send(bad, bearer: Array("Bearer ya29.unknown".utf8)).response?.status == 401)
        #expect(scenario.send(bad, project: "nowhere").response?.status == 404)
        let other = scenario.send(bad, project: "other")
        #expect(other.response?.status == 403)
        #expect(other.fcmCode == nil, "a missing role is no mismatch of one token")
        #expect(scenario.send(bad, method: "GET").response?.status == 404)
        #expect(scenario.send(Scenario.message("t"), contentType: "text/plain").response?.status == 400)
        #expect(scenario.send(Scenario.message("t"), contentType: nil).response?.status == 400)
        #expect(scenario.send(Scenario.message("t"), contentType: "Application/JSON").response?.status == 200)
        #expect(scenario.state.counts.requests == 8)
    }

    @Test func `a body that does not pass is refused as FCM does`() throws {
        let scenario = try Scenario()
        let unknown = scenario.send(#"{"message":{"token":"t","androids":{}}}"#)
        #expect(unknown.response?.status == 400)
        #expect(unknown.json?["error"]?["status"]?.text == "INVALID_ARGUMENT")
        #expect(unknown.json?["error"]?["code"]?.number == 400)
        #expect(unknown.field == "message.androids")
        #expect(unknown.fcmCode == nil, "the parser's refusals have no code of FCM's")
        let reserved = scenario.send(#"{"message":{"token":"t","data":{"from":"x"}}}"#)
        #expect(reserved.fcmCode == "INVALID_ARGUMENT")
        #expect(reserved.field == "message.data")
        let big = scenario.send(Scenario.message("t", id: String(repeating: "x", count: 4100)))
        #expect(big.fcmCode == "INVALID_ARGUMENT")
        #expect(big.field == nil, "too big comes without a field")
        #expect(scenario.state.devices.totals == DeviceModel.Totals())
        #expect(scenario.state.counts.byReason["INVALID_ARGUMENT"] == 3)
    }

    @Test func `a data message to an Apple device needs priority 5`() throws {
        let scenario = try Scenario()
        func body(_ apns: String) -> String { #"{"message":{"token":"apple-1","data":{"id":"1"}\#(apns)}}"# }
        #expect(scenario.send(body("")).field == "message.apns.headers")
        #expect(scenario.send(body(#","apns":{"headers":{"apns-priority":"5"}}"#)).response?.status == 200)
        #expect(scenario.send(body(#","apns":{"payload":{"aps":{"alert":"x"}}}"#)).response?.status == 200)
        #expect(scenario.send(body(#","notification":{"title":"x"}"#)).response?.status == 200)
    }

    @Test func `a quota used up is answered 429 until it is filled again`() throws {
        let scenario = try Scenario(faults: "rate=2/min")
        #expect(scenario.send(Scenario.message("a")).response?.status == 200)
        #expect(scenario.send(Scenario.message("b")).response?.status == 200)
        let refused = scenario.send(Scenario.message("c"), after: .seconds(20))
        #expect(refused.fcmCode == "QUOTA_EXCEEDED")
        #expect(refused.response?.fields.first { $0.0 == "retry-after" }?.1 == "40")
        #expect(scenario.send(Scenario.message("c"), after: .seconds(60)).response?.status == 200)
    }

    @Test func `topics are accepted without a device`() throws {
        let scenario = try Scenario()
        #expect(scenario.send(#"{"message":{"topic":"news","data":{"id":"1"}}}"#).response?.status == 200)
        #expect(scenario.state.devices.totals.groupSends == 1)
        #expect(scenario.state.devices.totals.devices == 0)
    }
}
