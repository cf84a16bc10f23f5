import Domain
import Logging
import Testing
import Threading

@testable import Transports

/// Looks are taken one by one; nothing here waits for a clock.
@Suite(.timeLimit(.minutes(1))) struct AccessTokensTests {
    let store = MemoryTokenStore()
    let file: TemporaryFile
    let endpoint = TokenEndpoint()

    init() throws { file = try TemporaryFile(OAuthVector.keyFile()) }

    private func tokens(worker: String = "a") throws -> AccessTokens {
        var configuration = AccessTokens.Configuration()
        configuration.jitterShare = 0
        let endpoint = endpoint
        return AccessTokens(
            credential: .init(5), worker: WorkerID(worker), keyFile: try KeyFileReading(path: file.path), store: store,
            configuration: configuration, logger: Logger(label: "test")
        ) { _, _ in try endpoint.answer() }
    }

    private func look(_ tokens: AccessTokens) async -> Duration {
        var failures = 0
        return await tokens.refreshIfDue(failures: &failures)
    }

    @Test func `the first look fetches a token and stores it sealed`() async throws {
        let tokens = try tokens()
        #expect(tokens.use().isAwaited)
        _ = await look(tokens)
        #expect(tokens.use().token == "token-1")
        let row = try #require(store.state.withLock { $0.row })
        #expect(row.expiresAt - row.issuedAt == .seconds(3600))
        #expect(!String(decoding: row.sealed, as: UTF8.self).contains("token-1"))
    }

    @Test func `another worker takes the token from the row`() async throws {
        _ = await look(try tokens(worker: "a"))
        let other = try tokens(worker: "b")
        _ = await look(other)
        #expect(other.use().token == "token-1")
        #expect(endpoint.asked == 1)
    }

    @Test func `a token is refreshed at 78 percent of its life and used until then`() async throws {
        let tokens = try tokens()
        _ = await look(tokens)
        store.advance(by: .seconds(2807))
        #expect(await look(tokens) == .seconds(1))
        #expect(tokens.use().token == "token-1")
        store.advance(by: .seconds(1))
        _ = await look(tokens)
        #expect(tokens.use().token == "token-2")
        #expect(endpoint.asked == 2)
    }

    @Test func `one worker refreshes while the others keep the old token`() async throws {
        let first = try tokens(worker: "a")
        let second = try tokens(worker: "b")
        _ = await look(first)
        _ = await look(second)
        store.advance(by: .seconds(3000))
        let seen = store.state.withLock { $0.row?.expiresAt }
        #expect(
            try await store.beginRefresh(
                credential: .init(5), by: WorkerID("a"), for: .seconds(30), replacing: seen))
        #expect(await look(second) == .milliseconds(500))
        #expect(second.use().token == "token-1")
        // The first one died at it.
        store.advance(by: .seconds(31))
        _ = await look(second)
        #expect(second.use().token == "token-2")
    }

    @Test func `a fault of the endpoint leaves the token in use`() async throws {
        let tokens = try tokens()
        _ = await look(tokens)
        store.advance(by: .seconds(3000))
        endpoint.script([.failed(.retry(.fcmAccessTokenRefused, after: .seconds(90)), word: nil)])
        #expect(await look(tokens) == .seconds(90))
        #expect(tokens.use().token == "token-1")
        endpoint.script([.failed(.credential(.fcmAccessTokenRefused), word: "invalid_grant")])
        _ = await look(tokens)
        #expect(tokens.use().token == "token-1")
    }

    @Test func `an unreachable database leaves the token in use`() async throws {
        let tokens = try tokens()
        _ = await look(tokens)
        store.state.withLock { $0.isDown = true }
        let wait = await look(tokens)
        #expect(wait > .zero && wait <= .seconds(1))
        #expect(tokens.use().token == "token-1")
    }

    @Test func `a definite refusal is said until the key file changes`() async throws {
        let tokens = try tokens()
        endpoint.script([.failed(.credential(.fcmAccessTokenRefused), word: "invalid_grant")])
        #expect(await look(tokens) == .seconds(60))
        #expect(tokens.use().refusal == .credential(.fcmAccessTokenRefused))
        await #expect(throws: AccessTokenRefused.self) { try await tokens.ready() }
        try file.write(OAuthVector.keyFile(changing: ["project_id": "mended"]))
        _ = await look(tokens)
        #expect(tokens.use().token == "token-2")
    }

    @Test func `a refused token is replaced once, then it is the credential`() async throws {
        let tokens = try tokens()
        _ = await look(tokens)
        let first = try #require(tokens.use().installed)
        #expect(tokens.reject(first.generation).isFirst == true)
        #expect(tokens.reject(first.generation).isFirst == false)
        #expect(tokens.use().isAwaited)
        _ = await look(tokens)
        let second = try #require(tokens.use().installed)
        #expect(second.token.text == "token-2")
        #expect(tokens.reject(first.generation).isFirst == false, "a late answer to the old token")
        #expect(tokens.reject(second.generation).isFirst == nil)
        #expect(tokens.use().token == "token-2")
        #expect(endpoint.asked == 2, "no further refresh")
    }

    @Test func `a replacement that FCM took may be replaced in its turn`() async throws {
        let tokens = try tokens()
        _ = await look(tokens)
        _ = tokens.reject(try #require(tokens.use().installed).generation)
        _ = await look(tokens)
        let second = try #require(tokens.use().installed)
        tokens.prove(second.generation)
        #expect(tokens.reject(second.generation).isFirst == true)
    }

    @Test func `a refused token is not taken from the row again`() async throws {
        let first = try tokens(worker: "a")
        let second = try tokens(worker: "b")
        _ = await look(first)
        _ = await look(second)
        _ = second.reject(try #require(second.use().installed).generation)
        store.state.withLock { $0.refresher = (WorkerID("a"), $0.now + .seconds(30)) }
        _ = await look(second)
        #expect(second.use().isAwaited)
        store.state.withLock { $0.refresher = nil }
        _ = await look(second)
        #expect(second.use().token == "token-2")
    }

    @Test func `a row that does not open is replaced`() async throws {
        let now = store.state.withLock { $0.now }
        store.state.withLock {
            $0.row = SealedToken(
                sealed: [UInt8](repeating: 1, count: 60), issuedAt: now, expiresAt: now + .seconds(3600))
        }
        let tokens = try tokens()
        _ = await look(tokens)
        #expect(tokens.use().token == "token-1")
    }

    @Test func `an expired token is not used although the next is late`() async throws {
        let tokens = try tokens()
        endpoint.script([.token(AccessToken(text: "brief"), lifetime: .seconds(5))])
        _ = await look(tokens)
        #expect(tokens.use().isAwaited)
    }

    @Test func `waiting ends with the first token, and running ends with its task`() async throws {
        let tokens = try tokens()
        try await withThrowingTaskGroup { group in
            group.addTask { await tokens.run() }
            try await tokens.ready()
            #expect(tokens.use().token == "token-1")
            group.cancelAll()
        }
    }

    @Test func `waiting ends when its task is cancelled`() async throws {
        let tokens = try tokens()
        await withTaskGroup { group in
            group.addTask { await #expect(throws: CancellationError.self) { try await tokens.ready() } }
            group.cancelAll()
        }
    }
}

/// Gives what a test scripted, then `token-<n>` for an hour to the n-th who asks.
final class TokenEndpoint: Sendable {
    private let state = Locked((asked: 0, scripted: [OAuthAnswer]()))

    var asked: Int { state.withLock(\.asked) }

    func script(_ answers: [OAuthAnswer]) { state.withLock { $0.scripted = answers } }

    func answer() throws -> OAuthAnswer {
        state.withLock { state in
            state.asked += 1
            if !state.scripted.isEmpty { return state.scripted.removeFirst() }
            return .token(AccessToken(text: "token-\(state.asked)"), lifetime: .seconds(3600))
        }
    }
}

extension TokenState.Use {
    var installed: TokenState.Installed? { if case .usable(let installed) = self { installed } else { nil } }
    var token: String? { installed?.token.text }
    var isAwaited: Bool { if case .awaited = self { true } else { false } }
    var refusal: Answer? { if case .refused(let answer) = self { answer } else { nil } }
}

extension TokenState.Rejection {
    /// nil = a fault of the credential.
    var isFirst: Bool? { if case .replaced(let isFirst) = self { isFirst } else { nil } }
}
