import Foundation
import Logging
import PlainHTTP
import Postgres
import TestSupport
import Testing

/// The intake as a process, called as an SDK calls it, and what the reports make of it.
@Suite(.timeLimit(.minutes(2))) struct IntakeCommandTests {
    private static let logger = Logger(label: "tests") { TextLogHandler(label: $0, logLevel: .critical) }

    private static func call(_ url: String, key: String, _ body: String) async throws -> (status: Int, body: String) {
        var configuration = HTTPClient.Configuration()
        configuration.allowsPlainText = true
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "authorization", value: "Bearer \(key)")
        request.headers.add(name: "content-type", value: "application/json")
        request.body = Array(body.utf8)
        let response = try await HTTPClient(configuration: configuration).execute(
            request, timeout: .seconds(10), logger: logger)
        return (response.status, String(decoding: response.body, as: UTF8.self))
    }

    /// Where a child listens, from its log.
    private static func port(of child: Child) async throws -> Int {
        try await until("the intake listens") { child.errors.contains("\"port\":\"") }
        let text = try #require(child.errors.firstMatch(of: /"port":"([0-9]+)"/)?.output.1)
        return try #require(Int(text))
    }

    @Test func `Events of a campaign stand in its report and on its page`() async throws {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 40) { site in
                let run = try await site.createCampaign()
                _ = try site.start(roles: "scheduler,worker,janitor")
                try await site.untilSettled(run)
                let (added, _) = try await site.pushfleet(["app", "key", "add", "ferry", "--json"])
                let key = String(try #require(added.output.firstMatch(of: /"key":"([^"]+)"/)?.output.1))
                #expect(
                    try await site.client.query("SELECT count(*) FROM pushfleet.intake_key")[0].int64(0) == 1)
                let intake = try site.start(["intake", "--http-port", "0"], as: .intake)
                let base = "http://127.0.0.1:\(try await Self.port(of: intake))/v1/apps/ferry"
                let ids = try await site.accepted(of: run).keys.sorted().prefix(12)
                let events = ids.enumerated().flatMap { index, id in
                    (index < 5 ? ["shown", "opened"] : ["shown"]).map { kind in
                        "{\"id\":\"\(UUID().uuidString)\",\"notification\":\"\(id)\",\"kind\":\"\(kind)\"}"
                    }
                }
                let body = "{\"events\":[\(events.joined(separator: ","))]}"
                let first = try await Self.call(base + "/events", key: key, body)
                #expect(first.status == 200 && first.body.contains("\"counted\":17"), "\(first)")
                let second = try await Self.call(base + "/events", key: key, body)
                #expect(second.body.contains("\"counted\":0") && second.body.contains("\"repeated\":17"), "\(second)")
                try await until("the deliveries are counted") {
                    let counted = try await site.client.query(
                        "SELECT coalesce(sum(n), 0)::bigint FROM pushfleet.tally")[0].int64(0)
                    return counted == 40
                }
                let (shown, _) = try await site.pushfleet(["report", "show", "events", "--csv"])
                let line = try #require(shown.output.split(separator: "\n").last)
                #expect(line.hasPrefix("\(run),ferry,Winter,40,0,12,5,0,0,0.125"), "\(shown.output) \(shown.errors)")
                let page = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString).html")
                let campaign = try await site.client.query("SELECT id FROM pushfleet.campaign")[0].int64(0)
                let (written, exit) = try await site.pushfleet(
                    ["report", "campaign", "\(campaign)", "--html", page.path])
                #expect(exit == .done, "\(written.errors)")
                let html = try String(contentsOf: page, encoding: .utf8)
                try FileManager.default.removeItem(at: page)
                #expect(html.contains("<h1>Winter</h1>") && html.contains("12.5 % <small>"))
                #expect(html.contains("Accounting: 40 targeted"))
                intake.signal(SIGTERM)
                await expectExit(intake, .done)
            }
        }
    }
}
