import Threading

/// How often a duration fell below each bound, in seconds.
package final class DurationHistogram: Emitting {
    private struct State {
        var counts: [UInt64]
        var sum: Double = 0
    }

    private let bounds: [Double]
    private let state: Locked<State>

    init(buckets: [Duration]) {
        bounds = buckets.map(\.inSeconds)
        state = Locked(State(counts: [UInt64](repeating: 0, count: buckets.count + 1)))
    }

    package func record(_ duration: Duration) {
        let seconds = duration.inSeconds
        let bucket = bounds.firstIndex { seconds <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += seconds
        }
    }

    func emit(_ name: String, _ labels: [(String, String)], into buffer: inout String) {
        let state = state.withLock { $0 }
        var below: UInt64 = 0
        for (index, count) in state.counts.enumerated() {
            below += count
            let bound = index < bounds.count ? "\(bounds[index])" : "+Inf"
            PrometheusCollectorRegistry.sample("\(name)_bucket", labels + [("le", bound)], "\(below)", into: &buffer)
        }
        PrometheusCollectorRegistry.sample("\(name)_sum", labels, "\(state.sum)", into: &buffer)
        PrometheusCollectorRegistry.sample("\(name)_count", labels, "\(below)", into: &buffer)
    }
}

extension Duration {
    fileprivate var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
