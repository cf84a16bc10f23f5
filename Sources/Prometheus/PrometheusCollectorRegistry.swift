// Mirrors swift-prometheus 2.0: what we call of it.
import Threading

/// All metrics of a process. A metric is made once for each name and set of labels and kept: making it again gives the same
/// one, so that a caller may hold it or ask anew.
///
/// Names follow the conventions of prometheus.io/docs/practices/naming: base units, `_total` for counters. Labels must be
/// few and bounded: transports, outcomes, roles; never a run, a subscriber or an address.
package final class PrometheusCollectorRegistry: Sendable {
    private struct Family {
        let kind: Kind
        let help: String
        var members: [(labels: [(String, String)], metric: any Emitting)] = []
    }

    enum Kind: String { case counter, gauge, histogram }

    private let families = Locked<[String: Family]>([:])

    package init() {}

    package func makeCounter(name: String, labels: [(String, String)] = [], help: String) -> Counter {
        make(name, .counter, labels, help) { Counter() }
    }

    package func makeGauge(name: String, labels: [(String, String)] = [], help: String) -> Gauge {
        make(name, .gauge, labels, help) { Gauge() }
    }

    /// - Parameter buckets: upper bounds, rising; one without a bound is added.
    package func makeDurationHistogram(
        name: String, labels: [(String, String)] = [], buckets: [Duration], help: String
    ) -> DurationHistogram {
        make(name, .histogram, labels, help) { DurationHistogram(buckets: buckets) }
    }

    private func make<Metric: Emitting>(
        _ name: String, _ kind: Kind, _ labels: [(String, String)], _ help: String, _ fresh: () -> Metric
    ) -> Metric {
        families.withLock { families in
            var family = families[name] ?? Family(kind: kind, help: help)
            precondition(family.kind == kind, "\(name) is a \(family.kind.rawValue)")
            if let known = family.members.first(where: { Self.same($0.labels, labels) })?.metric as? Metric {
                return known
            }
            let metric = fresh()
            family.members.append((labels, metric))
            families[name] = family
            return metric
        }
    }

    private static func same(_ one: [(String, String)], _ other: [(String, String)]) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { $0 == $1 }
    }

    /// The text format, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats), sorted by name.
    package func emit(into buffer: inout String) {
        let families = families.withLock { $0 }
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            buffer += "# HELP \(name) \(Self.escaped(family.help, quotes: false))\n"
            buffer += "# TYPE \(name) \(family.kind.rawValue)\n"
            for member in family.members { member.metric.emit(name, member.labels, into: &buffer) }
        }
    }

    static func sample(_ name: String, _ labels: [(String, String)], _ value: String, into buffer: inout String) {
        buffer += name
        if !labels.isEmpty {
            buffer += "{"
            for (index, label) in labels.enumerated() {
                if index > 0 { buffer += "," }
                buffer += "\(label.0)=\"\(escaped(label.1, quotes: true))\""
            }
            buffer += "}"
        }
        buffer += " \(value)\n"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.append(character)
            }
        }
        return escaped
    }
}

/// Writes its own samples.
protocol Emitting: AnyObject, Sendable {
    func emit(_ name: String, _ labels: [(String, String)], into buffer: inout String)
}
