import Threading

/// Only grows, from 0 at the start of the process.
package final class Counter: Emitting {
    private let value = Locked<Double>(0)

    package func increment(by amount: Double = 1) {
        value.withLock { $0 += amount }
    }

    func emit(_ name: String, _ labels: [(String, String)], into buffer: inout String) {
        PrometheusCollectorRegistry.sample(name, labels, "\(value.withLock { $0 })", into: &buffer)
    }
}

/// Is what it was last set to.
package final class Gauge: Emitting {
    private let value = Locked<Double>(0)

    package func set(to new: Double) {
        value.withLock { $0 = new }
    }

    package func increment(by amount: Double = 1) {
        value.withLock { $0 += amount }
    }

    func emit(_ name: String, _ labels: [(String, String)], into buffer: inout String) {
        PrometheusCollectorRegistry.sample(name, labels, "\(value.withLock { $0 })", into: &buffer)
    }
}
