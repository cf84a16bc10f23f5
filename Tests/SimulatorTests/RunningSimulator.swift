import Crypto
import FoundationEssentials
import HTTP2
import Logging
import PlainHTTP
import Threading

@testable import Simulator

/// A whole simulator in this process, and clients of it: libcurl for tokens and administration, ours for sends.
struct RunningSimulator {
    let whereabouts: Whereabouts
    private let http: HTTPClient

    /// Starts one, hands it to `body`, and stops it.
    static func with(
        faults: String = "", _ body: @Sendable (RunningSimulator) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/simulator-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var settings = FaultSettings(seed: 5)
        try settings.change(faults)
        let configuration = SimulatorConfiguration(
            listen: try Listen(parsing: "127.0.0.1:0"), stateDirectory: directory, seed: 5, faults: settings)
        let (ready, readiness) = AsyncStream.makeStream(of: Whereabouts.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { readiness.finish() }
                try await SimulatorService(configuration: configuration, logger: .quiet) { readiness.yield($0) }.run()
            }
            for await whereabouts in ready {
                try await body(RunningSimulator(whereabouts))
                group.cancelAll()
            }
            try await group.waitForAll()
        }
    }

    private init(_ whereabouts: Whereabouts) {
        self.whereabouts = whereabouts
        var configuration = HTTPClient.Configuration()
        configuration.trustFile = whereabouts.caFile
        http = HTTPClient(configuration: configuration)
    }

    func get(_ path: String) async throws -> JSONValue {
        let request = HTTPClientRequest(url: whereabouts.url + path)
        return try JSONValue(parsing: await http.execute(request, timeout: .seconds(10), logger: .quiet).body)
    }

    /// Trades the account's key for an access token, as a sender does.
    func accessToken() async throws -> String {
        struct Claims: Encodable {
            let iss: String
            let aud: String
            let scope = "https://www.googleapis.com/auth/firebase.messaging"
            let iat: Int
            let exp: Int
        }
        let file = try Data(contentsOf: URL(filePath: whereabouts.accounts[0].keyFile))
        let account = try JSONDecoder().decode(ServiceAccount.KeyFile.self, from: file)
        let now = Int(Date().timeIntervalSince1970)
        let assertion = try JSONWebToken.sign(
            Claims(iss: account.clientEmail, aud: account.tokenURI, iat: now - 30, exp: now + 3000),
            keyID: account.privateKeyID, using: RSA.Signing.PrivateKey(pemRepresentation: account.privateKey))
        var request = HTTPClientRequest(url: account.tokenURI)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        request.body = Array((grant + assertion).utf8)
        let response = try await http.execute(request, timeout: .seconds(10), logger: .quiet)
        return try JSONValue(parsing: response.body)["access_token"]?.text ?? ""
    }

    /// Sends one message to each token, whose id is the token's place, and waits for all results.
    func send(
        _ tokens: [String], bearer: String, deadline: Duration = .seconds(20)
    ) async -> [String: HTTP2Result] {
        let port = UInt16(whereabouts.url.split(separator: ":").last ?? "") ?? 0
        let client = HTTP2Client(
            origin: HTTP2Origin(host: "127.0.0.1", port: port),
            configuration: HTTP2ClientConfiguration(trust: .file(whereabouts.caFile)), logger: .quiet)
        let shared = HTTP2FieldBlock([
            HTTP2Field("content-type", "application/json", noIndex: false),
            HTTP2Field("authorization", "Bearer \(bearer)", noIndex: false),
        ])
        let requests = tokens.enumerated().map { index, token in
            HTTP2Request(
                id: UInt64(index), path: Array("/v1/projects/demo/messages:send".utf8),
                body: Array(Scenario.message(token, id: "n-\(index)").utf8))
        }
        let (results, sink) = AsyncStream.makeStream(of: HTTP2Result.self)
        client.submit(requests, shared: shared, beginBefore: .now + .seconds(20), deadline: deadline) { batch in
            for result in batch { sink.yield(result) }
        }
        var byToken: [String: HTTP2Result] = [:]
        for await result in results {
            byToken[tokens[Int(result.id)]] = result
            if byToken.count == tokens.count { break }
        }
        await client.close(by: .now)
        return byToken
    }
}

extension Logger {
    static var quiet: Logger {
        var logger = Logger(label: "simulator.test")
        logger.logLevel = .critical
        return logger
    }
}
