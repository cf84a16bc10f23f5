import Crypto
import FoundationEssentials
import HTTP2
import Testing

@testable import Simulator

@Suite struct APNsEndpointTests {
    @Test func `an accepted push is answered with its id and an empty body`() throws {
        let scenario = try APNsScenario()
        let id = "0f2c1c52-6a0e-4f7a-9f0d-2f9c5c1d7e11"
        let response = try #require(scenario.send(headers: ["apns-id": id]).response)
        #expect(response.status == 200)
        #expect(response.body.isEmpty)
        #expect(response.fields.map(\.0) == ["apns-id"])
        #expect(response.fields.map(\.1) == [id])
        let made = try #require(scenario.send(sandbox: true).response)
        #expect(made.fields.map(\.0) == ["apns-id", "apns-unique-id"])
        #expect(made.fields[0].1.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil)
    }

    private static let long = String(repeating: "x", count: 65)

    @Test(
        arguments: [
            (["apns-id": "0F2C1C52-6A0E-4F7A-9F0D-2F9C5C1D7E11"], "BadMessageId"), (["apns-id": "1"], "BadMessageId"),
            (["apns-topic": ""], "MissingTopic"), (["apns-topic": "example.other"], "TopicDisallowed"),
            (["apns-topic": "example.ferry.voip"], "BadTopic"),
            (["apns-push-type": "voip"], "BadTopic"),
            (["apns-push-type": "voip", "apns-topic": "example.ferry.voip"], "ok"),
            (["apns-push-type": ""], "InvalidPushType"), (["apns-push-type": "Alert"], "InvalidPushType"),
            (["apns-priority": "7"], "BadPriority"), (["apns-priority": "1"], "ok"), (["apns-priority": ""], "ok"),
            (["apns-push-type": "background", "apns-priority": "10"], "BadPriority"),
            (["apns-push-type": "background", "apns-priority": ""], "BadPriority"),
            (["apns-expiration": "soon"], "BadExpirationDate"), (["apns-expiration": "-1"], "BadExpirationDate"),
            (["apns-expiration": "0"], "ok"), (["apns-collapse-id": long], "BadCollapseId"),
            (["apns-collapse-id": String(long.dropLast())], "ok"),
        ] as [([String: String], String)])
    func `headers are checked as Apple does`(headers: [String: String], reason: String) throws {
        #expect(try APNsScenario().send(headers: headers).reason == reason)
    }

    @Test func `a header that stands there twice, another method, another path`() throws {
        let scenario = try APNsScenario()
        #expect(scenario.send(duplicates: true).reason == "DuplicateHeaders")
        #expect(scenario.send(method: "GET").response?.status == 405)
        #expect(scenario.send(path: "/3/device").reason == "MissingDeviceToken")
        #expect(scenario.send(path: "/3/device/").reason == "MissingDeviceToken")
        #expect(scenario.send(path: "/3/devices/aa").reason == "BadPath")
    }

    @Test(arguments: [
        ("zz", "BadDeviceToken"), (String(repeating: "a", count: 63), "BadDeviceToken"),
        (String(repeating: "a", count: 30), "BadDeviceToken"), (String(repeating: "a", count: 514), "BadDeviceToken"),
        (String(repeating: "A", count: 32), "ok"), (String(repeating: "a", count: 512), "ok"),
    ])
    func `a device token is an even number of 32 to 512 hexadecimal digits`(token: String, reason: String) throws {
        #expect(try APNsScenario().send(to: token).reason == reason)
    }

    private static let silent = #"{"aps":{"content-available":1},"data":{"op":"refresh"},"id":"n-1"}"#

    @Test(
        arguments: [
            ("", "alert", "PayloadEmpty"), ("{", "alert", "PayloadInvalid"), ("[]", "alert", "PayloadInvalid"),
            (#"{"data":{}}"#, "alert", "PayloadInvalid"), (#"{"aps":{"alert":"x"}}"#, "alert", "ok"),
            (#"{"aps":{"badge":3}}"#, "alert", "ok"), (#"{"aps":{"badge":"3"}}"#, "alert", "PayloadInvalid"),
            (#"{"aps":{"alert":7}}"#, "alert", "PayloadInvalid"),
            (#"{"aps":{"alert":"x","interruption-level":"loud"}}"#, "alert", "PayloadInvalid"),
            (#"{"aps":{"badge":1,"mutable-content":1}}"#, "alert", "PayloadInvalid"),
            (#"{"aps":{"alert":"x"},"aps":{}}"#, "alert", "PayloadInvalid"),
            (silent, "alert", "InvalidPushType"), (silent, "background", "ok"),
            (#"{"aps":{"content-available":1,"sound":"x"}}"#, "background", "InvalidPushType"),
            (#"{"aps":{"content-available":1,"thread-id":"x"}}"#, "background", "InvalidPushType"),
            (#"{"aps":{"alert":"x"}}"#, "background", "InvalidPushType"),
        ] as [(String, String, String)])
    func `the payload is what the push type says`(body: String, type: String, reason: String) throws {
        let headers = ["apns-push-type": type, "apns-priority": type == "background" ? "5" : "10"]
        #expect(try APNsScenario().send(body, headers: headers).reason == reason)
    }

    @Test(arguments: [(4096, "ok"), (4097, "PayloadTooLarge")]) func `a body has at most 4096 bytes`(
        length: Int, reason: String
    ) throws {
        let frame = #"{"aps":{"alert":""}}"#
        let text = String(repeating: "x", count: length - frame.utf8.count)
        let answer = try APNsScenario().send(#"{"aps":{"alert":"\#(text)"}}"#)
        #expect(answer.reason == reason)
        if length > 4096 { #expect(answer.response?.status == 413) }
    }

    // MARK: The provider token

    @Test func `a provider token is verified in every part`() throws {
        let scenario = try APNsScenario()
        typealias Claims = APNsScenario.Claims
        let now = APNsScenario.wallClock
        func reason(_ token: String, _ connection: UInt64) -> String? {
            scenario.send(token: token, connection: connection).reason
        }
        #expect(reason("", 10) == "MissingProviderToken")
        #expect(reason("Bearer \(scenario.token.dropFirst(7))", 11) == "InvalidProviderToken")
        #expect(try reason(scenario.jwt(key: P256.Signing.PrivateKey()), 12) == "InvalidProviderToken")
        #expect(try reason(scenario.jwt(keyID: "UNKNOWN000"), 13) == "InvalidProviderToken")
        #expect(try reason(scenario.jwt(keyID: nil), 14) == "InvalidProviderToken")
        #expect(try reason(scenario.jwt(Claims(iss: "Z9Z9Z9Z9Z9")), 15) == "InvalidProviderToken")
        #expect(try reason(scenario.jwt(Claims(iss: nil)), 16) == "InvalidProviderToken")
        #expect(try reason(scenario.jwt(Claims(iat: now + 0.5)), 17) == "InvalidProviderToken")
        #expect(try reason(scenario.jwt(Claims(iat: now + 61)), 18) == "InvalidProviderToken")
        #expect(try reason(scenario.jwt(Claims(iat: now - 3600)), 19) == "ok")
        #expect(try reason(scenario.jwt(Claims(iat: now - 3601)), 20) == "ExpiredProviderToken")
    }

    @Test func `a token grows old on its connection`() throws {
        let scenario = try APNsScenario()
        #expect(scenario.send(wallClock: APNsScenario.wallClock + 3600).reason == "ok")
        #expect(scenario.send(wallClock: APNsScenario.wallClock + 3601).reason == "ExpiredProviderToken")
    }

    @Test func `a new token within 20 minutes is too early on a connection, where the older one goes on`() throws {
        let scenario = try APNsScenario()
        let later = try scenario.jwt(.init(iat: APNsScenario.wallClock + 1))
        #expect(scenario.send().reason == "ok")
        let early = scenario.send(token: later, after: .seconds(1199))
        #expect(early.reason == "TooManyProviderTokenUpdates")
        #expect(early.response?.status == 429)
        #expect(scenario.send(after: .seconds(1199)).reason == "ok")
        #expect(scenario.send(token: later, after: .seconds(1200)).reason == "ok")
        #expect(scenario.send(token: later, connection: 2).reason == "ok")
        #expect(scenario.state.providerTokens.distinct == 2)
        #expect(scenario.state.providerTokens.renewedTooEarly == 1)
    }

    @Test func `a connection is bound to its team and key`() throws {
        let scenario = try APNsScenario()
        #expect(scenario.send().reason == "ok")
        #expect(try scenario.send(token: scenario.jwt(keyID: "OTHERKEY00")).reason == "UnrelatedKeyIdInToken")
        let other = try scenario.jwt(.init(iss: "Z9Z9Z9Z9Z9"), keyID: "OTHERTEAM0")
        #expect(scenario.send(token: other).reason == "InvalidProviderToken")
        #expect(scenario.send(token: other, connection: 2).reason == "ok")
        #expect(scenario.send(token: other, sandbox: true).reason == "ok", "the sandbox counts its own connections")
    }

    // MARK: Faults

    @Test(arguments: APNsReason.allCases) func `every documented reason can be had by a token and by a share`(
        reason: APNsReason
    ) throws {
        let prefix = try #require(APNsToken.prefixes[reason.rawValue])
        let scenario = try APNsScenario()
        let byToken = scenario.send(to: APNsScenario.device(prefix))
        #expect(byToken.reason == reason.rawValue)
        #expect(byToken.response?.status == reason.status)
        let once = "fa1c" + prefix.dropFirst(4)
        #expect(scenario.send(to: APNsScenario.device(once)).reason == reason.rawValue)
        #expect(scenario.send(to: APNsScenario.device(once)).reason == "ok")
        let share = try APNsScenario(faults: "apns-\(reason.rawValue)=100%")
        #expect(share.send().reason == reason.rawValue)
        #expect(share.state.devices.totals.accepted == 0)
    }

    @Test func `a token that is gone says since when, in milliseconds`() throws {
        let prefix = try #require(APNsToken.prefixes["Unregistered"])
        let answer = try APNsScenario().send(to: APNsScenario.device(prefix), wallClock: 1_774_000_000.25)
        #expect(answer.json?["timestamp"]?.number == 1_774_000_000_250)
        let bad = try APNsScenario().send(to: APNsScenario.device(try #require(APNsToken.prefixes["BadDeviceToken"])))
        #expect(bad.json?["timestamp"] == nil)
    }

    @Test func `a token of one environment is bad in the other`() throws {
        let scenario = try APNsScenario()
        for (mark, sandbox) in [("5a5a5a5a", true), ("b0b0b0b0", false)] {
            let token = APNsScenario.device(mark)
            #expect(scenario.send(to: token, sandbox: sandbox).reason == "ok")
            #expect(scenario.send(to: token, connection: 9, sandbox: !sandbox).reason == "BadDeviceToken")
        }
        let dead = try #require(APNsToken.prefixes["ExpiredToken"])
        #expect(scenario.send(to: APNsScenario.device("5a5a5a5a" + dead), sandbox: true).reason == "ExpiredToken")
    }

    @Test(arguments: [
        ("unregistered", "Unregistered"), ("bad", "BadDeviceToken"), ("mismatch", "DeviceTokenNotForTopic"),
        ("quota", "TooManyRequests"), ("e401", "ExpiredProviderToken"), ("e500", "InternalServerError"),
        ("e503", "ServiceUnavailable"), ("thirdparty", "InvalidProviderToken"),
    ])
    func `faults that FCM knows, too, are said in Apple's words`(fault: String, reason: String) throws {
        #expect(try APNsScenario(faults: "\(fault)=100%").send().reason == reason)
    }

    @Test func `faults of stream and connection are actions, accepted or not`() throws {
        let scenario = try APNsScenario()
        func kind(_ fault: String) throws -> String {
            let prefix = try #require(APNsToken.prefixes[fault])
            return switch scenario.send(APNsScenario.alert(fault), to: APNsScenario.device(prefix)) {
            case .respond(let response): "respond \(response.status)"
            case .respondAfter(let span, _): "after \(span)"
            case .stall: "stall"
            case .reset(let code): "reset \(code)"
            case .refuse: "refuse"
            case .goAway: "goaway"
            case .goAwayUnprocessed: "goaway below"
            case .closeConnection(let hard): "close \(hard)"
            }
        }
        let accepted = ["slow", "empty", "reset", "stall", "goaway", "close"]
        #expect(
            try accepted.map(kind) == ["after 2.0 seconds", "respond 200", "reset 2", "stall", "goaway", "close true"])
        #expect(scenario.state.devices.totals.accepted == 6)
        #expect(
            try ["drop", "refuse", "goawaybelow", "html502"].map(kind) == [
                "stall", "refuse", "goaway below", "respond 502",
            ])
        #expect(scenario.state.devices.totals.accepted == 6)
    }

    @Test func `a used up quota is answered 429`() throws {
        let scenario = try APNsScenario(faults: "rate=1/min")
        #expect(scenario.send().reason == "ok")
        #expect(scenario.send().reason == "TooManyRequests")
    }

    // MARK: Devices

    @Test func `a collapse id replaces what it showed before, whatever its id`() throws {
        let scenario = try APNsScenario()
        let same = ["apns-collapse-id": "trip-88"]
        for id in ["n-1", "n-1", "n-2"] { _ = scenario.send(APNsScenario.alert(id), headers: same) }
        #expect(scenario.state.devices.totals.shown == 1)
        #expect(scenario.state.devices.totals.repeats == 1)
        _ = scenario.send(APNsScenario.alert("n-3"), headers: ["apns-collapse-id": "trip-89"])
        _ = scenario.send(APNsScenario.alert("n-4"), to: APNsScenario.device("", 1), headers: same)
        #expect(scenario.state.devices.totals.shown == 3)
        #expect(scenario.state.devices.totals.devicesShownMoreThanOnce == 0)
    }

    @Test func `without a collapse id a repeat is shown again, and a background push never`() throws {
        let scenario = try APNsScenario()
        for _ in 0..<2 { _ = scenario.send() }
        #expect(scenario.state.devices.totals.shown == 2)
        #expect(scenario.state.devices.totals.devicesShownMoreThanOnce == 1)
        _ = scenario.send(Self.silent, headers: ["apns-push-type": "background", "apns-priority": "5"])
        #expect(scenario.state.devices.totals.accepted == 3)
        #expect(scenario.state.devices.totals.shown == 2)
    }

    @Test func `a second start keeps the signing key, and points it at the new ports`() throws {
        let path = FileManager.default.temporaryDirectory.path + "/simulator-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let directory = try StateDirectory(path)
        let first = try directory.prepareSigningKey(
            topic: "example.ferry", production: "https://a:1", sandbox: "https://a:2")
        let again = try directory.prepareSigningKey(
            topic: "example.ferry", production: "https://a:3", sandbox: "https://a:4")
        #expect(first.keyID == again.keyID)
        let text = try String(contentsOfFile: directory.signingKeyFile, encoding: .utf8)
        #expect(text.contains("https://a:3") && text.contains("https://a:4"))
        for file in [directory.signingKeyFile, "\(path)/AuthKey_\(first.keyID).p8"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect("\(attributes[.posixPermissions] ?? "none")" == "\(0o600)")
        }
        let other = try directory.prepareSigningKey(
            topic: "example.other", production: "https://a:3", sandbox: "https://a:4")
        #expect(other.keyID != first.keyID)
    }
}
