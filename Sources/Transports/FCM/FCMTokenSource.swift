import Crypto
import Domain
import Logging

/// Access tokens that Google's token endpoint trades for assertions of a service account.
struct FCMTokenSource: TokenSource {
    typealias Exchange = @Sendable (ServiceAccount, Instant) async throws -> OAuthAnswer

    let keyFile: KeyFileReading
    let exchange: Exchange

    var owner: String { keyFile.account.projectID }
    var sealingKey: SymmetricKey { keyFile.account.sealingKey }

    func reload() throws -> Bool { try keyFile.reload() }
    func issue(at now: Instant) async throws -> OAuthAnswer { try await exchange(keyFile.account, now) }
}

extension AccessTokens {
    convenience init(
        credential: Credential.ID, worker: WorkerID, keyFile: KeyFileReading, store: any AccessTokenStore,
        configuration: Configuration, logger: Logger, exchange: @escaping FCMTokenSource.Exchange
    ) {
        self.init(
            credential: credential, worker: worker, source: FCMTokenSource(keyFile: keyFile, exchange: exchange),
            store: store, configuration: configuration, logger: logger)
    }
}
