import FoundationEssentials
import HTTP2
import Testing

@testable import Simulator

@Suite struct AdminTests {
    @Test func `counts tell what arrived`() throws {
        let scenario = try Scenario()
        for token in ["a", "a", "b", "dead-1", "reset-1"] {
            _ = scenario.send(Scenario.message(token, id: "n-\(token)"))
        }
        _ = scenario.send("{")
        let counts = try scenario.counts()
        let expected = [
            "requests": 6.0, "accepted": 4, "wire_sends": 4, "distinct_ids": 3, "repeats": 1, "devices": 3,
            "devices_shown_more_than_once": 0, "notifications_shown": 3, "oauth_tokens_issued": 1,
        ]
        for (key, value) in expected { #expect(counts[key]?.number == value, "\(key)") }
        #expect(
            counts["by_status"]?.members == [
                "200": .number(3), "400": .number(1), "404": .number(1), "none": .number(1),
            ])
        #expect(counts["by_reason"]?["UNREGISTERED"]?.number == 1)
        #expect(counts["by_reason"]?["reset"]?.number == 1)
        let largest = #"{"id":"n-reset-1","title":"Boarding","body":"Gate B4"}"#.utf8.count
        #expect(counts["largest_payload"]?.number == Double(largest))
    }

    @Test func `reset forgets devices and counts, and keeps faults and tokens`() throws {
        let scenario = try Scenario(faults: "e500=100%")
        _ = scenario.send(Scenario.message("a"))
        #expect(scenario.ask("POST", "/admin/reset").status == 200)
        let counts = try scenario.counts()
        #expect(counts["requests"]?.number == 0)
        #expect(scenario.send(Scenario.message("a")).response?.status == 500)
    }

    @Test func `faults change while it runs`() throws {
        let scenario = try Scenario()
        #expect(scenario.ask("POST", "/admin/fault", #"{"set":"e500=100%,latency=5ms"}"#).status == 200)
        #expect(scenario.send(Scenario.message("a")).response?.status == 500)
        let report = try JSONValue(parsing: scenario.ask("GET", "/admin/fault").body)
        #expect(report["shares"]?["e500"]?.number == Share.all)
        #expect(scenario.ask("POST", "/admin/fault", #"{"set":"e600=1%"}"#).status == 400)
        #expect(scenario.ask("POST", "/admin/fault", "e500=1%").status == 400)
        #expect(scenario.ask("POST", "/admin/fault", #"{"set":"none,latency=0ms"}"#).status == 200)
        #expect(scenario.send(Scenario.message("a")).response?.status == 200)
    }

    @Test func `revoked access tokens are unknown`() throws {
        let scenario = try Scenario()
        #expect(scenario.ask("POST", "/admin/revoke").status == 200)
        #expect(scenario.send(Scenario.message("a")).response?.status == 401)
    }

    @Test func `a device is found by its token`() throws {
        let scenario = try Scenario()
        _ = scenario.send(Scenario.message("a:b_c", id: "1"))
        _ = scenario.send(Scenario.message("a:b_c", id: "1"))
        let device = try JSONValue(parsing: scenario.ask("GET", "/admin/device?token=a%3Ab_c").body)
        #expect(device["accepted"]?.number == 2)
        #expect(device["distinct_ids"]?.number == 1)
        #expect(device["shown"]?.number == 1)
        let unknown = try JSONValue(parsing: scenario.ask("GET", "/admin/device?token=x").body)
        #expect(unknown["accepted"]?.number == 0)
        #expect(scenario.ask("GET", "/admin/device").status == 400)
    }

    @Test func `ids come in pages`() throws {
        let scenario = try Scenario(keptIDs: 3)
        for id in ["one", "two", "two", #"th\"ree"#, "four"] { _ = scenario.send(Scenario.message("t", id: id)) }
        let page = try JSONValue(parsing: scenario.ask("GET", "/admin/ids?from=1&limit=1").body)
        #expect(page["ids"]?.elements == [.object(["id": .string("two"), "accepted": .number(2)])])
        #expect(page["next"]?.number == 2)
        let rest = try JSONValue(parsing: scenario.ask("GET", "/admin/ids?from=2").body)
        #expect(rest["ids"]?.elements?.first?["id"]?.text == #"th"ree"#)
        #expect(rest["next"] == .null)
        #expect(rest["kept"]?.number == 3)
        #expect(rest["total"]?.number == 4)
    }

    @Test func `other paths and methods do not exist`() throws {
        let scenario = try Scenario()
        #expect(scenario.ask("GET", "/healthz").status == 200)
        #expect(scenario.ask("POST", "/admin/counts").status == 404)
        #expect(scenario.ask("GET", "/admin/nothing").status == 404)
    }

    @Test func `the journal has a line for each send and never a token`() throws {
        let file = FileManager.default.temporaryDirectory.path + "/simulator-journal-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let scenario = try Scenario()
        scenario.state.journal = try Journal(path: file, start: scenario.clock)
        _ = scenario.send(Scenario.message("secret-token", id: "n-1"), after: .milliseconds(1500))
        _ = scenario.send(Scenario.message("reset-secret", id: "n-2"), after: .milliseconds(1600))
        _ = scenario.send("{", after: .milliseconds(1700))
        _ = scenario.send(Scenario.message("dead-secret", id: "n\\t3"), after: .milliseconds(1800))
        scenario.state.journal?.flush()
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let lines = text.split(separator: "\n").map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
        #expect(lines.map { $0[0] } == ["1500000", "1600000", "1700000", "1800000"])
        #expect(lines.map { $0[2] } == ["n-1", "n-2", "-", "n?3"])
        #expect(lines.map { $0[3] } == ["200", "0", "400", "404"])
        #expect(lines.map { $0[4] } == ["-", "reset", "INVALID_ARGUMENT", "unregistered"])
        #expect(lines[0][1].count == 16 && lines[2][1] == "-")
        #expect(!text.contains("secret"))
    }
}

extension Share {
    /// What "100%" reads back as.
    fileprivate static let all = Double(UInt64.max) / 0x1p64
}
