import Foundation
import Logging
import PlainHTTP
import TestSupport
import Testing

/// What a process tells an orchestrator, from its first moment on.
@Suite(.timeLimit(.minutes(2))) struct HealthTests {
    private static let logger = Logger(label: "tests") { TextLogHandler(label: $0, logLevel: .critical) }

    /// The statuses of /livez, /readyz and /startupz.
    private static func health(_ port: Int) async throws -> [Int] {
        var configuration = HTTPClient.Configuration()
        configuration.allowsPlainText = true
        let client = HTTPClient(configuration: configuration)
        var statuses: [Int] = []
        for path in ["livez", "readyz", "startupz"] {
            let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/\(path)")
            statuses.append(try await client.execute(request, timeout: .seconds(5), logger: logger).status)
        }
        return statuses
    }

    private static func port(of child: Child, _ message: String) async throws -> Int {
        let pattern = try Regex("\"message\":\"\(message)\"[^\\n]*\"port\":\"([0-9]+)\"")
        try await until("it listens") { child.errors.firstMatch(of: pattern) != nil }
        let text = try #require(child.errors.firstMatch(of: pattern)?.output[1].substring)
        return try #require(Int(text))
    }

    private static func login(_ arguments: [String]) -> FleetLogin {
        arguments[0] == "intake" ? .intake : FleetLogin(roles: arguments.contains("worker") ? "worker" : "all")
    }

    private static let starts = [
        ["run", "--roles", "worker", "--http-port", "0"], ["run", "--http-port", "0"],
        ["intake", "--http-port", "0", "--watch-port", "0", "--watch-host", "127.0.0.1"],
    ]

    @Test(arguments: HealthTests.starts)
    func `while its database is away a process is alive and not ready, and needs nobody when it returns`(
        arguments: [String]
    ) async throws {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 1, relayed: true) { site in
                let relay = try #require(site.relay)
                relay.goDown()
                let child = try site.start(arguments, as: Self.login(arguments))
                let port = try await Self.port(of: child, arguments[0] == "run" ? "listening" : "watched")
                #expect(try await Self.health(port) == [200, 503, 503])
                try await until("it says so") { child.errors.contains("waiting for the database") }
                #expect(try await Self.health(port) == [200, 503, 503])
                try relay.comeBack()
                try await until("it is ready") { try await Self.health(port) == [200, 200, 200] }
                relay.goDown()
                // What has started once has started; only readiness comes and goes.
                try await until("it is not ready") { try await Self.health(port) == [200, 503, 200] }
                try relay.comeBack()
                try await until("it is ready again") { try await Self.health(port) == [200, 200, 200] }
                child.signal(SIGTERM)
                await expectExit(child, .done)
            }
        }
    }

    @Test(arguments: HealthTests.starts) func `a signal ends a process that waits for its database`(arguments: [String])
        async throws
    {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 1, relayed: true) { site in
                site.relay?.goDown()
                let child = try site.start(arguments, as: Self.login(arguments))
                try await until("it waits") { child.errors.contains("waiting for the database") }
                let asked = ContinuousClock.now
                child.signal(SIGTERM)
                await expectExit(child, .done)
                #expect(ContinuousClock.now - asked < .seconds(6))
            }
        }
    }
}
