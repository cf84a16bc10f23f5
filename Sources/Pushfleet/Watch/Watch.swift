import Delivery
import Domain
import Logging
import PlainHTTPServer
import Postgres
import Prometheus
import QueueStore
import ServiceLifecycle
import Threading

/// What others may see of this process: metrics and health on an HTTP port, if one is asked for.
struct Watch {
    let registry = PrometheusCollectorRegistry()
    let logger: Logger

    init(version: String, roles: [String], logger: Logger) {
        self.logger = logger
        for role in roles {
            registry.makeGauge(
                name: "pushfleet_build_info", labels: [("version", version), ("role", role)],
                help: "1 for each role that this process runs."
            ).set(to: 1)
        }
    }

    var delivery: any DeliveryMetrics { PrometheusDeliveryMetrics(registry) }

    /// The gauges of the whole fleet, on a connection of their own.
    func gauges(_ database: PostgresConfiguration) -> [any Service] {
        let client = PostgresClient(database, connections: 1, logger: logger)
        return [
            client,
            FleetGauges(
                store: PostgresGaugeStore(client: client), registry: registry, draw: { Double.random(in: 0..<1) },
                logger: logger),
        ]
    }

    /// Health follows the pools: all of them have a connection = ready.
    /// - Throws: `HTTPServer.Failure` when the port cannot be listened on.
    func server(host: String, port: UInt16, of services: [any Service]) throws -> HTTPServer {
        let pools = services.compactMap { $0 as? PostgresClient }
        let wasReady = Locked(false)
        let unready: @Sendable () -> [String] = {
            guard pools.allSatisfy(\.isReady) else { return ["database"] }
            wasReady.withLock { $0 = true }
            return []
        }
        let health = HealthPort(
            registry: registry, unready: unready,
            isStarted: {
                // Whichever probe saw it ready: an outage later does not make it unstarted.
                _ = unready()
                return wasReady.withLock { $0 }
            })
        let connections = ConnectionGauges(
            registry: registry, pools: pools, hosts: services.compactMap { $0 as? TransportHost })
        return try HTTPServer(.init(host: host, port: port), logger: logger) { request in
            connections.show()
            return health.answer(request)
        }
    }
}
