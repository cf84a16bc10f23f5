import FoundationEssentials
import HTTP2
import Testing

@testable import Simulator

/// Over real HTTP/2 and TLS.
@Suite(.timeLimit(.minutes(1))) struct RunningSimulatorTests {
    private static func status(_ result: HTTP2Result?) -> Int? {
        if case .answered(let response)? = result?.outcome { response.status } else { nil }
    }

    @Test func `a sender gets a token, sends, and every message is accounted for`() async throws {
        try await RunningSimulator.with { simulator in
            let bearer = try await simulator.accessToken()
            let ordinary = (0..<1000).map { "token-\($0)" }
            let results = await simulator.send(ordinary + ["dead-1", "e503-1", "html502-1"], bearer: bearer)
            #expect(ordinary.allSatisfy { Self.status(results[$0]) == 200 })
            #expect(Self.status(results["dead-1"]) == 404)
            #expect(Self.status(results["e503-1"]) == 503)
            #expect(Self.status(results["html502-1"]) == 502)
            let counts = try await simulator.get("/admin/counts")
            #expect(counts["requests"]?.number == 1003)
            #expect(counts["accepted"]?.number == 1000)
            #expect(counts["distinct_ids"]?.number == 1000)
            #expect(counts["devices"]?.number == 1000)
            #expect(counts["oauth_tokens_issued"]?.number == 1)
            let ids = try await simulator.get("/admin/ids")
            #expect(ids["ids"]?.elements?.count == 1000)
        }
    }

    @Test func `what the client says of a fault agrees with what the device got`() async throws {
        try await RunningSimulator.with { simulator in
            let bearer = try await simulator.accessToken()
            let refused = await simulator.send(["refuse-once-1"], bearer: bearer)
            #expect(Self.status(refused["refuse-once-1"]) == 200, "a refused stream is sent again")
            let goaway = await simulator.send(["goaway-once-1", "a", "b", "c"], bearer: bearer)
            #expect(goaway.values.allSatisfy { Self.status($0) == 200 })
            let below = await simulator.send(["goawaybelow-once-1"], bearer: bearer)
            #expect(Self.status(below["goawaybelow-once-1"]) == 200)
            var accepted = 6
            for (token, reached) in [("reset-1", 1), ("close-1", 1), ("stall-1", 1), ("drop-1", 0)] {
                let results = await simulator.send([token], bearer: bearer, deadline: .milliseconds(300))
                guard case .mayHaveBeenSent? = results[token]?.outcome else {
                    Issue.record("\(token): \(String(describing: results[token]?.outcome))")
                    continue
                }
                accepted += reached
                #expect(try await simulator.get("/admin/counts")["accepted"]?.number == Double(accepted), "\(token)")
            }
        }
    }

    @Test func `an access token that was not issued is refused`() async throws {
        try await RunningSimulator.with { simulator in
            let results = await simulator.send(["token-1"], bearer: "ya29.made-up")
            #expect(Self.status(results["token-1"]) == 401)
        }
    }

    @Test func `a second start keeps keys, and points them at the new port`() throws {
        let path = FileManager.default.temporaryDirectory.path + "/simulator-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let directory = try StateDirectory(path)
        try directory.prepareCertificate(host: "127.0.0.1")
        let authority = try String(contentsOfFile: directory.authorityFile, encoding: .utf8)
        let account = try directory.prepareAccount("demo", isFirst: true, tokenURI: "https://127.0.0.1:1/token")
        let again = try StateDirectory(path)
        try again.prepareCertificate(host: "127.0.0.1")
        #expect(try String(contentsOfFile: again.authorityFile, encoding: .utf8) == authority)
        let later = try again.prepareAccount("demo", isFirst: true, tokenURI: "https://127.0.0.1:2/token")
        #expect(later.keyID == account.keyID)
        let file = try String(contentsOfFile: again.accountFile("demo", isFirst: true), encoding: .utf8)
        #expect(file.contains("https://127.0.0.1:2/token"))
        for file in [directory.keyFile, directory.accountFile("demo", isFirst: true)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect("\(attributes[.posixPermissions] ?? "none")" == "\(0o600)")
        }
        try again.prepareCertificate(host: "simulator.test")
        #expect(try String(contentsOfFile: again.authorityFile, encoding: .utf8) != authority)
    }
}
