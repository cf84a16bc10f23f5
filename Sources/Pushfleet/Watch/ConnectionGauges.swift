import Domain
import HTTP2
import Postgres
import Prometheus

/// How many connections stand in which state, looked up when somebody asks.
struct ConnectionGauges: Sendable {
    let registry: PrometheusCollectorRegistry
    let pools: [PostgresClient]
    let hosts: [TransportHost]

    func show() {
        let open = pools.reduce(0) { $0 + $1.openConnections }
        let all = pools.reduce(0) { $0 + $1.budget }
        for (state, count) in [("open", open), ("closed", all - open)] {
            registry.makeGauge(
                name: "pushfleet_database_connections", labels: [("state", state)],
                help: "Connections to PostgreSQL, of those that this process may have."
            ).set(to: Double(count))
        }
        guard !hosts.isEmpty else { return }
        let traffic = hosts.flatMap(\.traffic)
        for kind in TransportKind.allCases {
            let mine = traffic.filter { $0.kind == kind }.map(\.statistics)
            let states = [
                ("connecting", mine.reduce(0) { $0 + $1.connectingConnections }),
                ("open", mine.reduce(0) { $0 + $1.openConnections }),
                ("draining", mine.reduce(0) { $0 + $1.drainingConnections }),
            ]
            for (state, count) in states {
                registry.makeGauge(
                    name: "pushfleet_provider_connections", labels: [("transport", kind.name), ("state", state)],
                    help: "Connections to providers."
                ).set(to: Double(count))
            }
        }
    }
}
