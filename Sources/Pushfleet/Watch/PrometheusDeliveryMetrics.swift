import Domain
import Prometheus

/// A worker's metrics. All members are made at the start, so that a rate is right from the first scrape on.
struct PrometheusDeliveryMetrics: DeliveryMetrics {
    private let claims: [Lane: (found: Counter, empty: Counter, jobs: Counter)]
    private let claimTime: DurationHistogram
    private let outcomes: [TransportKind: [Counter]]
    private let latencies: [TransportKind: DurationHistogram]
    private let flushTime: DurationHistogram
    private let flushedJobs: Counter
    private let failedFlushes: Counter
    private let lostBatches: Counter
    private let inFlight: Gauge
    private let waiting: Gauge
    private let slots: Counter
    private let slotRefusals: Counter

    private static let statementBuckets: [Duration] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000].map {
        .milliseconds($0)
    }
    private static let answerBuckets: [Duration] = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000].map {
        .milliseconds($0)
    }
    private static let retried = 0

    init(_ registry: PrometheusCollectorRegistry) {
        claims = Dictionary(
            uniqueKeysWithValues: [(Lane.transactional, "transactional"), (.campaign, "campaign")].map { lane, name in
                let help = "Claims, by whether they found a batch."
                return (
                    lane,
                    (
                        registry.makeCounter(
                            name: "pushfleet_claims_total", labels: [("lane", name), ("result", "found")], help: help),
                        registry.makeCounter(
                            name: "pushfleet_claims_total", labels: [("lane", name), ("result", "empty")], help: help),
                        registry.makeCounter(
                            name: "pushfleet_claimed_jobs_total", labels: [("lane", name)], help: "Jobs claimed.")
                    )
                )
            })
        claimTime = registry.makeDurationHistogram(
            name: "pushfleet_claim_duration_seconds", buckets: Self.statementBuckets, help: "How long claims take.")
        outcomes = Dictionary(
            uniqueKeysWithValues: TransportKind.allCases.map { transport in
                let names = ["retried"] + Outcome.allCases.map(\.name)
                return (
                    transport,
                    names.map { name in
                        registry.makeCounter(
                            name: "pushfleet_answers_total",
                            labels: [("transport", transport.name), ("outcome", name)],
                            help: "Jobs that a transport reported on, by what became of them.")
                    }
                )
            })
        latencies = Dictionary(
            uniqueKeysWithValues: TransportKind.allCases.map { transport in
                (
                    transport,
                    registry.makeDurationHistogram(
                        name: "pushfleet_answer_duration_seconds", labels: [("transport", transport.name)],
                        buckets: Self.answerBuckets, help: "From a request's begin to its answer.")
                )
            })
        flushTime = registry.makeDurationHistogram(
            name: "pushfleet_flush_duration_seconds", buckets: Self.statementBuckets, help: "How long flushes take.")
        flushedJobs = registry.makeCounter(name: "pushfleet_flushed_jobs_total", help: "Outcomes recorded.")
        failedFlushes = registry.makeCounter(name: "pushfleet_flush_failures_total", help: "Flushes without a reply.")
        lostBatches = registry.makeCounter(
            name: "pushfleet_lost_batches_total", help: "Batches rescued from under this worker.")
        inFlight = registry.makeGauge(name: "pushfleet_in_flight", help: "Requests begun and unanswered.")
        waiting = registry.makeGauge(name: "pushfleet_waiting", help: "Jobs read and not begun.")
        slots = registry.makeCounter(name: "pushfleet_rate_slots_total", help: "Requests that a rate let through.")
        slotRefusals = registry.makeCounter(
            name: "pushfleet_rate_waits_total",
            help: "Times that a rate gave nothing, so that jobs went on waiting for it.")
    }

    func claimed(lane: Lane, jobs: Int, took: Duration) {
        claimTime.record(took)
        guard let counters = claims[lane] else { return }
        (jobs > 0 ? counters.found : counters.empty).increment()
        if jobs > 0 { counters.jobs.increment(by: Double(jobs)) }
    }

    func answered(transport: TransportKind, outcome: Outcome?, latency: Duration?) {
        outcomes[transport]?[outcome.map { Int($0.rawValue) } ?? Self.retried].increment()
        if let latency { latencies[transport]?.record(latency) }
    }

    func flushed(items: Int, took: Duration, failed: Bool) {
        flushTime.record(took)
        if failed { failedFlushes.increment() } else { flushedJobs.increment(by: Double(items)) }
    }

    func lost(batches: Int) {
        lostBatches.increment(by: Double(batches))
    }

    func holds(inFlight: Int, waiting: Int) {
        self.inFlight.set(to: Double(inFlight))
        self.waiting.set(to: Double(waiting))
    }

    func paced(slots count: Int) {
        if count > 0 { slots.increment(by: Double(count)) } else { slotRefusals.increment() }
    }
}
