import HTTP2
import Testing

@testable import Simulator

@Suite struct FaultTests {
    private static let answers: [(Fault, Int, String?)] = [
        (.unregistered, 404, "UNREGISTERED"), (.bad, 400, "INVALID_ARGUMENT"), (.mismatch, 403, "SENDER_ID_MISMATCH"),
        (.quota, 429, "QUOTA_EXCEEDED"), (.e401, 401, nil), (.e500, 500, "INTERNAL"), (.e503, 503, "UNAVAILABLE"),
        (.html502, 502, nil), (.thirdparty, 401, "THIRD_PARTY_AUTH_ERROR"), (.slow, 200, nil), (.empty, 200, nil),
        (.goaway, 200, nil),
    ]

    @Test(arguments: answers)
    func `a token's prefix decides its answer`(fault: Fault, status: Int, code: String?) throws {
        let scenario = try Scenario(faults: "retry-after=5")
        let answer = scenario.send(Scenario.message("\(fault.prefix)1"))
        #expect(answer.response?.status == status)
        #expect(answer.fcmCode == code)
        let retryAfter = answer.response?.fields.first { $0.0 == "retry-after" }?.1
        #expect(retryAfter == (fault == .quota || fault == .e503 ? "5" : nil))
        #expect((answer.field == "message.token") == (fault == .bad))
        #expect(scenario.state.devices.totals.accepted == (status == 200 ? 1 : 0))
    }

    @Test func `faults of stream and connection are actions, accepted or not`() throws {
        let scenario = try Scenario()
        func kind(_ token: String) -> String {
            switch scenario.send(Scenario.message(token, id: token)) {
            case .respond: "respond"
            case .respondAfter(let span, _): "after \(span)"
            case .stall: "stall"
            case .reset(let code): "reset \(code)"
            case .refuse: "refuse"
            case .goAway: "goaway"
            case .goAwayUnprocessed: "goaway below"
            case .closeConnection(let hard): "close \(hard)"
            }
        }
        #expect(kind("reset-1") == "reset 2")
        #expect(kind("stall-1") == "stall")
        #expect(kind("goaway-1") == "goaway")
        #expect(kind("close-1") == "close true")
        #expect(kind("slow-1") == "after 2.0 seconds")
        #expect(scenario.state.devices.totals.accepted == 5)
        #expect(kind("refuse-1") == "refuse")
        #expect(kind("drop-1") == "stall")
        #expect(kind("goawaybelow-1") == "goaway below")
        #expect(scenario.state.devices.totals.accepted == 5, "the last three never reached the device")
        #expect(scenario.state.counts.byStatus["none"] == 6)
        #expect(kind("ordinary") == "respond")
        #expect(kind("deadly") == "respond")
    }

    @Test(arguments: Fault.allCases)
    func `once means the first request of the token alone`(fault: Fault) throws {
        let scenario = try Scenario()
        for token in ["\(fault.prefix)once-a", "\(fault.prefix)once-b"] {
            _ = scenario.send(Scenario.message(token))
            let again = scenario.send(Scenario.message(token))
            #expect(again.response?.status == 200 && again.json?["name"] != nil)
        }
        let faulty = scenario.state.counts.byReason.filter { $0.key != "ok" }.values.reduce(0, +)
        #expect(faulty == (fault == .slow || fault == .goaway ? 0 : 2))
    }

    @Test func `shares hold over many requests, whatever their order`() throws {
        func outcomes(_ order: [Int]) throws -> (reasons: [String: Int], of17: [Int?]) {
            let scenario = try Scenario(seed: 3, faults: "e503=5%,reset=1/100,unregistered=0.02,transient=10%")
            var of17: [Int?] = []
            for token in order {
                let action = scenario.send(Scenario.message("token-\(token)"))
                if token == 17 { of17.append(action.response?.status) }
            }
            return (scenario.state.counts.byReason, of17)
        }
        let order = (0..<20_000).map { $0 % 10_000 }
        let forth = try outcomes(order)
        // Unregistered: 2 % of all. Transient: 10 % of the first half. Of the rest, 5 % and 1 %.
        #expect((300...500).contains(forth.reasons["UNREGISTERED"] ?? 0))
        #expect((1750...2150).contains(forth.reasons["UNAVAILABLE"] ?? 0))
        #expect((130...240).contains(forth.reasons["reset"] ?? 0))
        let back = try outcomes(order.reversed())
        #expect(forth.reasons == back.reasons)
        #expect(forth.of17 == back.of17)
    }

    @Test func `an unregistered share is a property of the token`() throws {
        let scenario = try Scenario(faults: "unregistered=50%")
        for token in 0..<50 {
            let answers = (0..<5).map { _ in scenario.send(Scenario.message("t\(token)")).response?.status }
            #expect(Set(answers).count == 1)
        }
        #expect(Set(scenario.state.counts.byStatus.keys) == ["200", "404"])
    }

    @Test(arguments: [
        "e503", "e503=", "e503=101%", "e503=-1%", "e503=1/0", "e503=60%,e500=60%", "nothing=1%", "latency=fast",
        "retry-after=x", "rate=10", "rate=0/s", "rate=5/day", "oauth-x=1%", "e503=nan",
    ])
    func `settings that cannot be read change nothing and say why`(text: String) {
        var settings = FaultSettings(seed: 1)
        let error = #expect(throws: FaultSyntaxError.self) { try settings.change("e500=1%,\(text)") }
        #expect(error?.description.isEmpty == false)
        #expect(settings.shares.isEmpty)
    }

    @Test(arguments: [
        "e503=50%,e500=50%", "e503=1,e500=0", "e503=10%,e500=20%,reset=70%", "e503=1/3,e500=1/3,reset=1/3",
        "e503=99.9%,e500=0.1%",
    ]) func `shares of all requests together leave none without a fault`(text: String) throws {
        let scenario = try Scenario(seed: 3, faults: text)
        for token in 0..<200 {
            #expect(scenario.send(Scenario.message("token-\(token)")).response?.status != 200)
        }
    }

    @Test func `settings add up, and none clears them`() throws {
        var settings = FaultSettings(seed: 1)
        try settings.change("e503=0.5%,goaway=1/20000,oauth-503=25%")
        try settings.change("e503=50%")
        #expect(settings.shares["e503"] == 0.5)
        #expect(abs((settings.shares["goaway"] ?? 0) - 0.00005) < 1e-12)
        #expect(settings.shares["oauth-503"] == 0.25)
        try settings.change("none, e500 = 1")
        #expect(settings.shares.keys.sorted() == ["e500"])
    }

    @Test func `a share can be one provider's alone`() throws {
        let faults = "fcm-e503=100%,webpush-unregistered=100%"
        #expect(try Scenario(faults: faults).send(Scenario.message("t")).response?.status == 503)
        #expect(try PushSender(faults: faults).push("t").response?.status == 410)
        #expect(try APNsScenario(faults: faults).send().response?.status == 200)
        #expect(try Scenario(faults: "webpush-e503=100%").send(Scenario.message("t")).response?.status == 200)
        var settings = FaultSettings(seed: 1)
        try settings.change(faults + ",fcm-transient=2%")
        #expect(settings.shares.keys.sorted() == ["fcm-e503", "fcm-transient", "webpush-unregistered"])
        try settings.change("none")
        #expect(settings.shares.isEmpty)
        #expect(throws: FaultSyntaxError.self) { try settings.change("fcm-nothing=1%") }
    }

    @Test func `a script changes settings at its moments`() throws {
        let scenario = try Scenario()
        scenario.state.script = try FaultScript(
            parsing: """
                # a storm after two sends, over after thirty seconds
                @2   e503=100%
                30s  none
                """)
        func status(_ after: Duration) -> Int? { scenario.send(Scenario.message("t"), after: after).response?.status }
        #expect([status(.zero), status(.zero), status(.seconds(1)), status(.seconds(29))] == [200, 200, 503, 503])
        #expect(status(.seconds(30)) == 200)
        #expect(throws: FaultSyntaxError.self) { try FaultScript(parsing: "@2 nonsense=1%") }
        #expect(throws: FaultSyntaxError.self) { try FaultScript(parsing: "soon e503=1%") }
        #expect(throws: FaultSyntaxError.self) { try FaultScript(parsing: "@2") }
    }

    @Test func `latencies have the shape that was asked for`() throws {
        func sorted(_ text: String) throws -> [Duration] {
            let latency = try Latency(parsing: text)
            return (0..<10_000).map { latency.draw(Hash64.combine(5, $0)) }.sorted()
        }
        #expect(try Latency(parsing: "0ms") == .none)
        #expect(try Set(sorted("20ms")) == [.milliseconds(20)])
        for text in ["20ms±10ms", "20ms+-10ms"] {
            let uniform = try sorted(text)
            #expect(uniform[0] >= .milliseconds(10) && uniform[9_999] <= .milliseconds(30))
            #expect((.milliseconds(19) ... .milliseconds(21)).contains(uniform[5_000]))
        }
        let service = try sorted("20ms/150ms")
        #expect((.milliseconds(19) ... .milliseconds(21)).contains(service[5_000]))
        #expect((.milliseconds(130) ... .milliseconds(170)).contains(service[9_900]))
    }

    @Test func `latency delays answers and refusals alike`() throws {
        let scenario = try Scenario(faults: "latency=20ms")
        for body in [Scenario.message("t"), Scenario.message("dead-1"), "{"] {
            guard case .respondAfter(let span, _) = scenario.send(body) else {
                Issue.record("answered at once")
                continue
            }
            #expect(span == .milliseconds(20))
        }
    }
}
