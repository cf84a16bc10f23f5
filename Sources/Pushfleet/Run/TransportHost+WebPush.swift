import Delivery
import Domain
import Transports

extension TransportHost {
    /// - Throws: `TransportUnavailable` naming what is wrong with the key's file or contact.
    func makeWebPush(_ route: Route) throws -> WebPushTransport {
        let credential = route.credential
        var configuration = WebPushConfiguration()
        configuration.options = WebPushOptions(facts: credential.facts)
        configuration.endpoints = settings.egress.endpoints
        configuration.privateNetworks = settings.egress.privateNetworks
        configuration.trustFile = settings.trustFile
        configuration.maximumConnections = settings.connections
        configuration.streamsPerConnection = settings.streamsPerConnection
        do {
            return try WebPushTransport(
                service: WebPushService(rawValue: route.service) ?? .other,
                newest: WebPushTransport.Key(
                    id: credential.id, path: credential.file, contact: credential.facts["contact"] ?? ""),
                others: credential.others.map {
                    WebPushTransport.Key(id: $0.id, path: $0.file, contact: $0.facts["contact"] ?? "")
                }, configuration: configuration, logger: logger)
        } catch {
            throw TransportUnavailable(
                reason: .credentialUnusable,
                description: "\(error); mend it, then: pushfleet credential resume \(credential.name)")
        }
    }
}

extension WebPushOptions {
    /// As `credential add` writes them.
    init(facts: [String: String]) {
        self.init()
        isDeclarative = facts["declarative"] == "true"
        isPadded = facts["padding"] == "true"
        tagsByThread = facts["tag_by_thread"] == "true"
    }
}
