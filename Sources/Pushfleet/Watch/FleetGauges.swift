import Logging
import Loops
import Prometheus
import QueueStore
import ServiceLifecycle

/// Keeps the gauges of the whole fleet up to date. The janitor does it, so that a fleet of hundreds asks once or twice.
struct FleetGauges: Service {
    let store: PostgresGaugeStore
    let registry: PrometheusCollectorRegistry
    let draw: @Sendable () -> Double
    let logger: Logger
    var tick: Duration = .seconds(15)

    func run() async throws {
        await repeating("fleet gauges", logger: logger, draw: draw) {
            show(try await store.figures())
            await pause(tick)
        }
    }

    func show(_ figures: FleetFigures) {
        for lane in figures.lanes {
            let states = [
                ("ready", lane.ready), ("leased", lane.leased), ("scheduled", lane.scheduled),
                ("retrying", lane.retrying),
            ]
            for (state, jobs) in states {
                registry.makeGauge(
                    name: "pushfleet_queue_jobs", labels: [("lane", lane.lane), ("state", state)],
                    help: "Jobs without an outcome."
                ).set(to: Double(jobs))
            }
            registry.makeGauge(
                name: "pushfleet_oldest_due_job_age_seconds", labels: [("lane", lane.lane)],
                help: "Since when the oldest job without an outcome is due."
            ).set(to: lane.oldestDueSeconds)
        }
        for credential in figures.credentials {
            let labels = [("app", credential.app), ("credential", credential.credential)]
            registry.makeGauge(
                name: "pushfleet_credential_paused", labels: labels, help: "1: a fault stopped this credential."
            ).set(to: credential.isPaused ? 1 : 0)
            if let seconds = credential.secondsSinceSuccess {
                registry.makeGauge(
                    name: "pushfleet_credential_last_success_age_seconds", labels: labels,
                    help: "Since when this credential has had no success."
                ).set(to: seconds)
            }
            if let seconds = credential.tokenSecondsLeft {
                registry.makeGauge(
                    name: "pushfleet_credential_token_remaining_seconds", labels: labels,
                    help: "How long the fleet's provider token is good; it is renewed long before, while it is used."
                ).set(to: seconds)
            }
        }
        registry.makeGauge(name: "pushfleet_workers_alive", help: "Workers with a lease.")
            .set(to: Double(figures.workersAlive))
        if let seconds = figures.orderedSeconds {
            registry.makeGauge(
                name: "pushfleet_scheduler_age_seconds",
                help: "Since a scheduler was at work last; it is every second, and without one nothing moves."
            ).set(to: seconds)
        }
        registry.makeGauge(
            name: "pushfleet_accounting_violations", help: "Must be 0: see pushfleet.accounting_violation."
        )
        .set(to: Double(figures.violations))
        registry.makeGauge(
            name: "pushfleet_oldest_snapshot_age_seconds", help: "Age of the oldest transaction that keeps dead rows."
        ).set(to: figures.oldestSnapshotSeconds)
        for (table, rows) in figures.deadRows {
            registry.makeGauge(
                name: "pushfleet_dead_rows", labels: [("table", table)], help: "Dead rows that wait for a vacuum."
            ).set(to: Double(rows))
        }
    }
}
