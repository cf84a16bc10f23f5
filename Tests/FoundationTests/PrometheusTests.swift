import Prometheus
import Testing

@Suite struct PrometheusTests {
    @Test func `Metrics are written in the text format, sorted by name`() {
        let registry = PrometheusCollectorRegistry()
        registry.makeCounter(name: "pushfleet_outcomes_total", labels: [("outcome", "delivered")], help: "Outcomes.")
            .increment(by: 3)
        registry.makeGauge(name: "pushfleet_in_flight", help: "Requests\nin flight.").set(to: 7)
        var text = ""
        registry.emit(into: &text)
        #expect(
            text == """
                # HELP pushfleet_in_flight Requests\\nin flight.
                # TYPE pushfleet_in_flight gauge
                pushfleet_in_flight 7.0
                # HELP pushfleet_outcomes_total Outcomes.
                # TYPE pushfleet_outcomes_total counter
                pushfleet_outcomes_total{outcome="delivered"} 3.0

                """)
    }

    @Test func `The same name and labels give the same metric`() {
        let registry = PrometheusCollectorRegistry()
        registry.makeCounter(name: "a_total", labels: [("x", "1")], help: "").increment()
        registry.makeCounter(name: "a_total", labels: [("x", "1")], help: "").increment()
        registry.makeCounter(name: "a_total", labels: [("x", "2")], help: "").increment()
        var text = ""
        registry.emit(into: &text)
        #expect(text.contains("a_total{x=\"1\"} 2.0\n"))
        #expect(text.contains("a_total{x=\"2\"} 1.0\n"))
    }

    @Test func `A label's value is escaped`() {
        let registry = PrometheusCollectorRegistry()
        registry.makeGauge(name: "a", labels: [("x", "q\"b\\n\n")], help: "").set(to: 1)
        var text = ""
        registry.emit(into: &text)
        #expect(text.contains("a{x=\"q\\\"b\\\\n\\n\"} 1.0\n"))
    }

    @Test func `A histogram counts below each bound, its last one without an end`() {
        let registry = PrometheusCollectorRegistry()
        let histogram = registry.makeDurationHistogram(
            name: "d_seconds", buckets: [.milliseconds(10), .milliseconds(100)], help: "")
        for milliseconds in [5, 10, 50, 500] { histogram.record(.milliseconds(milliseconds)) }
        var text = ""
        registry.emit(into: &text)
        #expect(text.contains("d_seconds_bucket{le=\"0.01\"} 2\n"))
        #expect(text.contains("d_seconds_bucket{le=\"0.1\"} 3\n"))
        #expect(text.contains("d_seconds_bucket{le=\"+Inf\"} 4\n"))
        #expect(text.contains("d_seconds_sum 0.565\n"))
        #expect(text.contains("d_seconds_count 4\n"))
    }
}
