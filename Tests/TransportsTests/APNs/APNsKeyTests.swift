import Crypto
import Domain
import Foundation
import Logging
import Testing
import Threading

@testable import Transports

@Suite struct APNsKeyTests {
    private func problems(_ changes: [String: String]) throws -> [String] {
        let credential = try APNsCredential(changes)
        do {
            _ = try APNsKeyReading(path: credential.file)
            return []
        } catch let problems as KeyFileProblems {
            for problem in problems.problems { #expect(!problem.remedy.isEmpty) }
            return problems.problems.map(\.pointer)
        }
    }

    @Test func `a credential file names team, key, topic and the file from the developer account`() throws {
        let credential = try APNsCredential(["environment": "sandbox", "sandbox_endpoint": "https://localhost:8443"])
        let key = try APNsKeyReading(path: credential.file).key
        #expect(key.teamID == APNsCredential.teamID)
        #expect(key.keyID == APNsCredential.keyID)
        #expect(key.topic == "example.ferry")
        #expect(key.scope == .sandbox)
        #expect(key.sandboxEndpoint == "https://localhost:8443")
        #expect(try key.privateKey.pemRepresentation == credential.privateKey.pemRepresentation)
        let secret = try credential.privateKey.pemRepresentation.dropFirst(30).prefix(40)
        #expect(!"\(key)".contains(secret))
    }

    @Test(
        arguments: [
            (["team_id": "short"], ["/team_id"]), (["team_id": "a1b2c3d4e5"], ["/team_id"]),
            (["key_id": "F6G7H8J9K"], ["/key_id"]), (["topic": "example ferry"], ["/topic"]),
            (["topic": "example.ferry\r\nx: y"], ["/topic"]), (["environment": "prod"], ["/environment"]),
            (["production_endpoint": "http://a"], ["/production_endpoint"]), (["key_file": "absent.p8"], ["/key_file"]),
            (["private_key": "x"], ["/key_file"]), (["bundle": "x"], ["/bundle"]),
            (["key_file": "AuthKey_0000000000.p8"], ["/key_file", "/key_file"]),
            (["team_id": "", "key_id": "", "topic": ""], ["/team_id", "/key_id", "/topic"]),
        ] as [([String: String], [String])])
    func `everything that is wrong with it is named at once`(changes: [String: String], pointers: [String]) throws {
        #expect(try problems(changes) == pointers)
    }

    @Test func `the key itself in place of the file is told apart`() throws {
        let credential = try APNsCredential()
        let thrown = #expect(throws: KeyFileProblems.self) {
            try APNsKeyReading(path: credential.folder + "/AuthKey_\(APNsCredential.keyID).p8")
        }
        #expect(thrown?.description.contains("is the key itself; write a file such as") == true)
        #expect(throws: KeyFileProblems.self) { try APNsKeyReading(path: "/nonexistent/apple.json") }
    }

    @Test func `a key on another curve is refused and nothing of it is quoted`() throws {
        let rsa = try RSA.Signing.PrivateKey().pemRepresentation
        let inline = try APNsCredential()
        try Data(
            JSONEncoder().encode([
                "team_id": "A1B2C3D4E5", "key_id": "F6G7H8J9K0", "topic": "t", "private_key": rsa,
            ])
        ).write(to: URL(fileURLWithPath: inline.file))
        let thrown = #expect(throws: KeyFileProblems.self) { try APNsKeyReading(path: inline.file) }
        #expect(thrown?.problems.map(\.pointer) == ["/private_key"])
        #expect(thrown?.description.contains(rsa.dropFirst(40).prefix(20)) == false)
    }

    @Test func `it is read again when the key behind it changes`() throws {
        let credential = try APNsCredential()
        let reading = try APNsKeyReading(path: credential.file)
        #expect(try !reading.reload())
        let new = try P256.Signing.PrivateKey()
        try credential.write(new, as: "AuthKey_\(APNsCredential.keyID).p8")
        #expect(try reading.reload())
        #expect(try reading.key.privateKey.pemRepresentation == new.pemRepresentation)
        try credential.write(["team_id": "bad"])
        #expect(throws: KeyFileProblems.self) { try reading.reload() }
        #expect(reading.key.teamID == APNsCredential.teamID)
    }
}

/// Looks are taken one by one; nothing here waits for a clock.
@Suite(.timeLimit(.minutes(1))) struct APNsTokenTests {
    let store = MemoryTokenStore()
    let credential: APNsCredential

    init() throws { credential = try APNsCredential() }

    private func tokens(worker: String = "a", jitter: Double = 0) throws -> AccessTokens {
        var configuration = APNsConfiguration().tokens
        configuration.jitterShare = jitter
        return AccessTokens(
            credential: .init(5), worker: WorkerID(worker),
            source: APNsTokenSource(file: try APNsKeyReading(path: credential.file)), store: store,
            configuration: configuration, logger: Logger(label: "test"))
    }

    private func look(_ tokens: AccessTokens) async -> Duration {
        var failures = 0
        return await tokens.refreshIfDue(failures: &failures)
    }

    private func token(_ tokens: AccessTokens) -> String? {
        if case .usable(let installed) = tokens.use() { installed.token.text } else { nil }
    }

    @Test func `a provider token is ES256 of key id, team and an instant a little before now`() async throws {
        struct Claims: Decodable {
            let iss: String
            let iat: Int
        }
        let tokens = try tokens()
        _ = await look(tokens)
        let signed = try JSONWebToken(parsing: #require(token(tokens)))
        try signed.verify(using: credential.privateKey.publicKey)
        #expect(signed.header.alg == "ES256")
        #expect(signed.header.kid == APNsCredential.keyID)
        let claims = try signed.claims(as: Claims.self)
        #expect(claims.iss == APNsCredential.teamID)
        #expect(claims.iat == 1_774_000_000 - 30)
        #expect(String(decoding: signed.claimsJSON, as: UTF8.self) == #"{"iat":1773999970,"iss":"A1B2C3D4E5"}"#)
        #expect(signed.signature.count == 64)
    }

    @Test func `the whole fleet uses one token`() async throws {
        let first = try tokens(worker: "a")
        _ = await look(first)
        let second = try tokens(worker: "b")
        _ = await look(second)
        #expect(token(second) != nil)
        #expect(token(second) == token(first))
        #expect(store.state.withLock(\.stored) == 1)
    }

    @Test func `it is renewed after 45 minutes, and used for less than an hour`() async throws {
        let tokens = try tokens()
        _ = await look(tokens)
        let first = token(tokens)
        store.advance(by: .seconds(2699))
        #expect(await look(tokens) == .seconds(1))
        #expect(token(tokens) == first)
        store.advance(by: .seconds(1))
        _ = await look(tokens)
        #expect(token(tokens) != first)
        let row = try #require(store.state.withLock(\.row))
        #expect(row.expiresAt - row.issuedAt == .seconds(3570))
    }

    @Test func `jitter keeps renewal between 40 and 50 minutes`() async throws {
        for _ in 0..<50 {
            let store = MemoryTokenStore()
            var configuration = APNsConfiguration().tokens
            configuration.idleInterval = .seconds(86_400)
            let tokens = AccessTokens(
                credential: .init(5), worker: WorkerID("a"),
                source: APNsTokenSource(file: try APNsKeyReading(path: credential.file)), store: store,
                configuration: configuration, logger: Logger(label: "test"))
            let wait = await look(tokens)
            #expect((.seconds(2400) ... .seconds(3000)).contains(wait))
        }
    }

    /// Such as two workers whose files hold different keys, which cannot read each other's row.
    @Test func `a process signs no second token within 20 minutes, whatever becomes of the row`() async throws {
        let tokens = try tokens()
        _ = await look(tokens)
        let first = token(tokens)
        for _ in 0..<3 {
            store.state.withLock { $0.row?.sealed = [0] }
            store.advance(by: .seconds(399))
            // Another key's token was put there.
            store.state.withLock { state in
                state.row = state.row.map { SealedToken(sealed: [0], issuedAt: state.now, expiresAt: $0.expiresAt) }
            }
            _ = await look(tokens)
            #expect(token(tokens) == first)
        }
        store.advance(by: .seconds(4))
        store.state.withLock { state in
            state.row = state.row.map { SealedToken(sealed: [0], issuedAt: state.now, expiresAt: $0.expiresAt) }
        }
        _ = await look(tokens)
        #expect(token(tokens) != first)
    }

    @Test func `a changed key replaces the token at the next look`() async throws {
        let tokens = try tokens()
        _ = await look(tokens)
        let new = try P256.Signing.PrivateKey()
        try credential.write(new, as: "AuthKey_0123456789.p8")
        try credential.write(["key_id": "0123456789", "key_file": "AuthKey_0123456789.p8"])
        _ = await look(tokens)
        let signed = try JSONWebToken(parsing: #require(token(tokens)))
        #expect(signed.header.kid == "0123456789")
        try signed.verify(using: new.publicKey)
    }
}
