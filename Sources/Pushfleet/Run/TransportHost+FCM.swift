import Delivery
import Domain
import HTTP2
import Transports

extension TransportHost {
    /// - Throws: `TransportUnavailable` naming what is wrong with the credential's file or endpoint.
    func makeTransport(_ credential: CredentialReference) throws -> FCMTransport {
        guard credential.transport == .fcm else {
            throw TransportUnavailable(
                reason: .credentialUnusable,
                description: "credential \(credential.name): this worker cannot send through \(credential.transport.name)")
        }
        let account: ServiceAccount
        do {
            account = try ServiceAccount(file: credential.file)
        } catch {
            throw TransportUnavailable(
                reason: .credentialUnusable,
                description: "credential \(credential.name): \(error); mend the file, then: pushfleet credential resume")
        }
        return try FCMTransport(
            credential: credential.id, account: account, endpoint: credential.endpoint, settings: settings,
            tokens: tokens, worker: worker, logger: logger)
    }
}
