import Foundation
import PlainHTTP
import TestSupport
import Testing

/// What a process tells whoever watches it.
@Suite(.timeLimit(.minutes(2))) struct WatchTests {
    private static let deploy = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Deploy")
        .standardized
    /// Where `promtool check metrics` finds it.
    private static let metricsFile = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../.build/metrics.txt").standardized

    private static func names(in text: String) -> Set<String> {
        var names: Set<String> = []
        for word in text.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") })
        where word.hasPrefix("pushfleet_") && word != "pushfleet_report" {
            names.insert(String(word))
        }
        return names
    }

    /// The port that the process said it listens on.
    private static func port(_ child: Child) async throws -> String {
        var port: String?
        try await until("it listens") {
            let line = child.errors.split(separator: "\n").first { $0.contains("\"listening\"") }
            port = line?.split(separator: "\"port\":\"").last.map { String($0.prefix { $0.isNumber }) }
            return port?.isEmpty == false
        }
        return try #require(port)
    }

    private static func get(_ path: String, _ port: String) async throws -> (status: Int, text: String) {
        var configuration = HTTPClient.Configuration()
        configuration.allowsPlainText = true
        let client = HTTPClient(configuration: configuration)
        let answer = try await client.execute(
            HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)"), timeout: .seconds(5),
            logger: TemporaryDatabase.logger)
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    @Test func `every metric that the dashboard and the alerts name exists, and so does what operators ask for`()
        async throws
    {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 50) { site in
                let run = try await site.createCampaign()
                let sender = try site.start(roles: "scheduler,worker")
                try await site.untilSettled(run)
                sender.signal(SIGTERM)
                await expectExit(sender, .done)
                let again = try await site.createCampaign()
                let child = try site.start(
                    roles: "scheduler,worker,janitor",
                    ["--http-port", "0", "--http-host", "127.0.0.1", "--log-format", "json"])
                let port = try await Self.port(child)
                try await site.untilSettled(again)
                var text = ""
                try await until("the fleet's gauges are there") {
                    text = try await Self.get("/metrics", port).text
                    return text.contains("pushfleet_credential_last_success_age_seconds{")
                }
                try text.write(to: Self.metricsFile, atomically: true, encoding: .utf8)
                let known = Self.names(in: text)
                for file in ["grafana/pushfleet.json", "prometheus/alerts.yml"] {
                    let named = Self.names(
                        in: try String(contentsOf: Self.deploy.appending(path: file), encoding: .utf8))
                    #expect(!named.isEmpty)
                    #expect(named.subtracting(known).isEmpty, "of \(file)")
                }
                #expect(Set(Self.asked).subtracting(known).isEmpty)
                #expect(text.contains(#"pushfleet_provider_connections{transport="fcm",state="open"} "#))
                #expect(text.contains(#"pushfleet_answers_total{transport="fcm",outcome="delivered"} 50"#))
                for path in ["/livez", "/readyz", "/startupz"] {
                    #expect(try await Self.get(path, port).status == 200, "\(path)")
                }
                // Bounded: nothing of a run, a subscriber or an address.
                for forbidden in ["run=", "run_id=", "subscriber=", "address=", "token=", "campaign="] {
                    #expect(!text.contains("{" + forbidden) && !text.contains("," + forbidden))
                }
            }
        }
    }

    /// Outcomes, latencies, in flight, claims, flushes, lost leases, waits for rates, connections, the age of what is due,
    /// of snapshots and of successes, dead rows.
    private static let asked = [
        "pushfleet_answers_total", "pushfleet_answer_duration_seconds_bucket", "pushfleet_in_flight",
        "pushfleet_claims_total",
        "pushfleet_claim_duration_seconds_bucket", "pushfleet_flush_duration_seconds_bucket",
        "pushfleet_lost_batches_total", "pushfleet_low_mark_defects_total",
        "pushfleet_rate_waits_total", "pushfleet_rate_slots_total", "pushfleet_provider_connections",
        "pushfleet_database_connections", "pushfleet_oldest_due_job_age_seconds",
        "pushfleet_oldest_snapshot_age_seconds", "pushfleet_scheduler_age_seconds",
        "pushfleet_dead_rows", "pushfleet_credential_last_success_age_seconds", "pushfleet_build_info",
    ]
}
