import Domain
import Foundation
import Postgres
import QueueStore
import Testing

/// A credential that its provider does not take, or whose file is broken, under a fleet of processes.
@Suite(.timeLimit(.minutes(2))) struct CredentialFaultTests {
    enum Fault: CaseIterable {
        /// The file cannot be read as what it should be.
        case brokenFile
        /// The provider's token service refuses the key.
        case refusedKey
    }

    private struct Listed: Decodable {
        let isPaused: Bool
        let reason: String
        let detail, remedy: String?
    }

    @Test(arguments: Fault.allCases)
    func `it is paused for the fleet with reason and remedy, and resumes by itself when its file is mended`(
        fault: Fault
    ) async throws {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 200) { site in
                let file = FileManager.default.temporaryDirectory.appending(path: "key-\(UUID().uuidString).json")
                defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: file) } }
                let sound = try String(contentsOfFile: provider.keyFile, encoding: .utf8)
                try sound.write(to: file, atomically: true, encoding: .utf8)
                let (added, status) = try await site.pushfleet([
                    "credential", "add", "firebase", "--app", "ferry", "--transport", "fcm", "--file", file.path,
                    "--endpoint", provider.url,
                ])
                #expect(status == .done, "\(added.errors)")

                switch fault {
                case .brokenFile: try "{".write(to: file, atomically: true, encoding: .utf8)
                case .refusedKey: try await provider.setFaults("oauth-invalid_grant=100%")
                }
                let run = try await site.createCampaign()
                _ = try site.start(roles: "scheduler,janitor")
                for _ in 0..<2 { _ = try site.start(roles: "worker") }
                try await until("the credential is paused") { try await Self.listed(site).isPaused }
                try await expectShown(site, run)
                // It burns neither jobs nor tokens.
                let accounting = try await site.progress(of: run).accounting
                #expect(accounting.settled == 0 && accounting.open == 200)
                #expect(try await site.count("SELECT count(*) FROM pushfleet.subscriber WHERE state <> 1") == 0)

                try await provider.setFaults("none")
                // Another file than the one that failed, whatever differs.
                try (sound + "\n").write(to: file, atomically: true, encoding: .utf8)
                try await site.untilSettled(run)
                try await site.expectSound(run, "mended")
                #expect(try await site.progress(of: run).accounting.delivered == 200)
                #expect(try await !Self.listed(site).isPaused)
            }
        }
    }

    private static func listed(_ site: Site) async throws -> Listed {
        let (list, status) = try await site.pushfleet(["credential", "list", "--app", "ferry", "--json"])
        #expect(status == .done, "\(list.errors)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Listed.self, from: Data(list.output.utf8))
    }

    /// To whoever lists it, reads the reports, or watches the fleet.
    private func expectShown(_ site: Site, _ run: Run.ID) async throws {
        let listed = try await Self.listed(site)
        let remedy = try #require(listed.detail ?? listed.remedy)
        #expect(listed.reason != "none")
        let (report, status) = try await site.pushfleet(["report", "run", "\(run)"])
        #expect(status == .done && report.output.contains(remedy), "\(report.output)")
        let rows = try await site.client.query("SELECT state, reason FROM pushfleet_report.credentials")
        #expect(rows.map { $0.string(0) } == ["paused"] && rows.map { $0.string(1) } == [listed.reason])
        let metrics = try await Self.metrics(of: site)
        #expect(metrics.contains(#"pushfleet_credential_paused{app="ferry",credential="firebase"} 1"#))
    }

    /// As a janitor that has just started shows them.
    private static func metrics(of site: Site) async throws -> String {
        let janitor = try site.start(roles: "janitor", Child.listening)
        var text = ""
        try await until("the gauges are read") {
            guard let answer = try await janitor.get("/metrics") else { return false }
            text = answer.text
            return text.contains("pushfleet_credential_paused")
        }
        return text
    }
}
