import Delivery
import Domain
import Transports

extension TransportHost {
    /// - Throws: `TransportUnavailable` naming what is wrong with the credential's file or endpoint.
    func makeAPNs(_ credential: CredentialReference) throws -> APNsTransport {
        var configuration = APNsConfiguration()
        configuration.endpoint = credential.endpoint
        configuration.trustFile = settings.trustFile
        configuration.maximumConnections = settings.connections
        configuration.streamsPerConnection = settings.streamsPerConnection
        do {
            return try APNsTransport(
                credential: credential.id, keyFile: credential.file, worker: worker, tokens: tokens,
                configuration: configuration, logger: logger)
        } catch {
            throw TransportUnavailable(
                reason: .credentialUnusable,
                description: "\(error); mend it, then: pushfleet credential resume \(credential.name)")
        }
    }
}

extension APNsTransport: HostedTransport {
    var kind: TransportKind { .apns }
}
