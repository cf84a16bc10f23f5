import Domain
import HTTP2

/// Where Web Push may go. Endpoints come from clients: without settings, only to the browsers' own push services.
///
///     PUSHFLEET_PUSH_HOSTS         names, or *.name for all below one, comma-separated; * = any public host
///     PUSHFLEET_PRIVATE_NETWORKS   networks that may be connected to beside public addresses, such as 127.0.0.0/8; with
///                                  any, an endpoint may also name an IP address or another port: for a simulator
struct EgressSettings: Sendable {
    var endpoints = EndpointPolicy()
    var privateNetworks: [AddressRange] = []

    init() {}

    /// - Throws: `CommandFailure` naming the variable that cannot be read.
    static func fromEnvironment() throws -> EgressSettings {
        var settings = EgressSettings()
        let networks = words(of: "PUSHFLEET_PRIVATE_NETWORKS")
        settings.privateNetworks = networks.compactMap { AddressRange($0) }
        guard settings.privateNetworks.count == networks.count else {
            throw CommandFailure(
                "PUSHFLEET_PRIVATE_NETWORKS: a word is no network; write them as 127.0.0.0/8,::1, comma-separated")
        }
        let hosts = words(of: "PUSHFLEET_PUSH_HOSTS")
        settings.endpoints = EndpointPolicy(
            hosts: hosts.contains("*") ? nil : hosts.isEmpty ? EndpointPolicy.services : hosts,
            allowsPrivate: !networks.isEmpty)
        return settings
    }

    private static func words(of variable: String) -> [String] {
        (environment(variable) ?? "").split { $0 == "," || $0 == " " }.map { String($0) }
    }
}
