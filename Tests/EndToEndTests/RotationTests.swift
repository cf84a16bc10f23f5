import Foundation
import PlainHTTP
import QueueStore
import TestSupport
import Testing

/// A credential's key is replaced while the fleet sends with it.
@Suite(.timeLimit(.minutes(3))) struct RotationTests {
    @Test func `a new key takes over from its file, both alive, and the old one is deleted, with nothing lost`()
        async throws
    {
        try await ProviderProcess.run(["--latency", "100ms"]) { provider in
            try await Site.run(on: provider, subscribers: 900) { site in
                let folder = FileManager.default.temporaryDirectory.appending(path: "rotation-\(UUID().uuidString)")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
                let file = folder.appending(path: "firebase.json")
                let old = try Data(contentsOf: URL(filePath: provider.keyFile))
                try old.write(to: file)
                let (_, moved) = try await site.pushfleet([
                    "credential", "add", "firebase", "--app", "ferry", "--transport", "fcm", "--file", file.path,
                    "--endpoint", provider.url,
                ])
                #expect(moved == .done)
                _ = try site.start(roles: "scheduler,janitor")
                for _ in 0..<2 { _ = try site.start(roles: "worker", ["--connections", "1", "--streams", "20"]) }
                let run = try await site.createCampaign()
                try await until("100 are sent") { try await site.accepted(of: run).count >= 100 }

                let new = Data(try await provider.request("/admin/key?project=demo", .POST))
                try new.write(to: file, options: .atomic)
                try await until("the old one sends on") { try await site.accepted(of: run).count >= 200 }
                _ = try await provider.request("/admin/delete-key?project=demo&id=\(try Self.keyID(old))", .POST)
                // Sooner than tokens end by themselves: whoever asks for the next must have the new key.
                _ = try await provider.request("/admin/revoke", .POST)
                try await site.untilSettled(run)
                try await site.expectSound(run, "after the rotation")
                #expect(try await site.progress(of: run).accounting.delivered == site.subscribers)
                #expect(try await provider.count("repeats") == 0)
                let listed = try #require(try await site.admin.credentials(app: "ferry").first)
                #expect(!listed.isPaused && listed.lastSuccessAt != nil && listed.tokenExpiresAt != nil)
                let (doctor, _) = try await site.pushfleet(["doctor", "--connect"])
                let start = try Self.keyID(new).prefix(8)
                #expect(doctor.output.contains("key \(start)…"), "\(doctor.output)")
                #expect(doctor.output.contains("Google gives one for this key"))

                try old.write(to: file, options: .atomic)
                let (ill, exit) = try await site.pushfleet(["doctor", "--connect"])
                #expect(exit.status == 1 && ill.output.contains("refused: invalid_grant"), "\(ill.output)")
                #expect(ill.output.contains("-> make a new key for the service account"))
            }
        }
    }

    private static func keyID(_ file: Data) throws -> String {
        struct Key: Decodable { let private_key_id: String }
        return try JSONDecoder().decode(Key.self, from: file).private_key_id
    }
}
