import Glibc

/// Long work on one line that redraws itself on a terminal, and as plain lines now and then elsewhere.
struct ProgressLine {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private var lastPlain: ContinuousClock.Instant?
    private let clock = ContinuousClock()
    private let startedAt = ContinuousClock().now
    private var samples: [(at: ContinuousClock.Instant, done: Int64)] = []

    /// - Parameter total: nil while it is not known yet.
    mutating func show(_ label: String, done: Int64, total: Int64?, note: String = "") {
        let now = clock.now
        samples.append((now, done))
        while samples.count > 2, samples[0].at + .seconds(5) < now { samples.removeFirst() }
        let text = line(label, done, total, note, now)
        if isTerminal {
            writeError("\r\u{1B}[2K" + text)
        } else if lastPlain.map({ $0 + .seconds(2) < now }) ?? true {
            lastPlain = now
            writeError(text + "\n")
        }
    }

    mutating func finish() { if isTerminal { writeError("\n") } }

    private func line(
        _ label: String, _ done: Int64, _ total: Int64?, _ note: String, _ now: ContinuousClock.Instant
    ) -> String {
        let rate = rate(now)
        var parts = [label]
        if let total, total > 0 {
            parts.append(bar(done, total))
            parts.append("\(grouped(done)) of \(grouped(total))")
        } else {
            parts.append(grouped(done))
        }
        parts.append("\(grouped(Int64(rate)))/s")
        if let total, rate > 0, done < total { parts.append("\(short(.seconds(Double(total - done) / rate))) left") }
        if !note.isEmpty { parts.append(note) }
        return parts.joined(separator: "  ")
    }

    private func rate(_ now: ContinuousClock.Instant) -> Double {
        guard let first = samples.first, let last = samples.last, first.at < last.at else { return 0 }
        let span =
            Double(first.at.duration(to: last.at).components.seconds)
            + Double(first.at.duration(to: last.at).components.attoseconds) / 1e18
        return span > 0 ? Double(last.done - first.done) / span : 0
    }

    private func bar(_ done: Int64, _ total: Int64) -> String {
        let width: Int64 = 24
        let full = min(width, width * done / total)
        return "[" + String(repeating: "#", count: Int(full)) + String(repeating: "-", count: Int(width - full)) + "]"
    }
}
