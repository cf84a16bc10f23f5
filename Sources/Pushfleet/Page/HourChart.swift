import Domain
import QueueStore

/// Columns over time, cut by outcome: by the hour, or by the day once that would be more than a week of hours.
struct HourChart {
    let hours: [CampaignFigures.Hour]

    private static let (width, height) = (920.0, 220.0)
    private static let (left, bottom, top) = (70.0, 30.0, 10.0)
    private static let labelWidth = 66.0
    private static let mostColumns: Int64 = 168

    private var span: ClosedRange<Int64>? {
        guard let first = hours.map(\.hour).min(), let last = hours.map(\.hour).max() else { return nil }
        return first...last
    }

    var html: HTML {
        guard let span else {
            return "<section><h2>Over time</h2><p class=\"empty\">Nothing counted yet.</p></section>"
        }
        let step: Int64 = span.upperBound - span.lowerBound < Self.mostColumns ? 1 : 24
        let first = span.lowerBound / step
        let count = span.upperBound / step - first + 1
        if count == 1 {
            return """
                <section><h2>Over time</h2><p class="empty">All within the hour from \(label(first, step)) UTC.</p></section>
                """
        }
        let columns = Dictionary(grouping: hours) { $0.hour / step - first }
        let largest = max(1, columns.values.map { $0.reduce(0) { $0 + $1.jobs } }.max() ?? 1)
        let slot = (Self.width - Self.left) / Double(count)
        let drawn = columns.sorted { $0.key < $1.key }.map { index, parts in
            column(
                parts, x: Self.left + Double(index) * slot, width: min(slot * 0.84, 60), largest: largest,
                label: label((first + index) * step, step))
        }
        return """
            <section><h2>Outcomes by the \(step == 1 ? "hour" : "day"), UTC</h2>
            \(OutcomeColor.legend(Set(hours.map(\.outcome))))
            <svg class="series" viewBox="0 0 \(coordinate(Self.width)) \(coordinate(Self.height))" role="img" \
            aria-label="\(Int(count)) columns, the largest \(grouped(largest))">
            \(axis(largest))
            \(HTML(drawn))
            \(HTML(ticks(first: first, count: count, step: step, slot: slot)))
            </svg></section>
            """
    }

    private func axis(_ largest: Int64) -> HTML {
        let lines = [(largest, Self.top), (0, Self.height - Self.bottom)].map { value, y -> HTML in
            """
            <line x1="\(coordinate(Self.left))" x2="\(coordinate(Self.width))" y1="\(coordinate(y))" \
            y2="\(coordinate(y))" class="axis"/><text x="\(coordinate(Self.left - 6))" y="\(coordinate(y + 4))" \
            text-anchor="end">\(grouped(value))</text>
            """
        }
        return HTML(lines)
    }

    private func column(
        _ parts: [CampaignFigures.Hour], x: Double, width: Double, largest: Int64, label: String
    ) -> HTML {
        let room = Self.height - Self.bottom - Self.top
        let outcomes = Dictionary(grouping: parts, by: \.outcome).sorted {
            OutcomeColor.rank(of: $0.key) < OutcomeColor.rank(of: $1.key)
        }
        var y = Self.height - Self.bottom
        var pieces: [HTML] = []
        for (outcome, parts) in outcomes {
            let jobs = parts.reduce(0) { $0 + $1.jobs }
            let height = Double(jobs) / Double(largest) * room
            y -= height
            pieces.append(
                """
                <rect x="\(coordinate(x))" y="\(coordinate(y))" width="\(coordinate(width))" \
                height="\(coordinate(height))" fill="\(OutcomeColor.color(of: outcome))">\
                <title>\(label) \(outcome): \(grouped(jobs))</title></rect>
                """)
        }
        return HTML(pieces)
    }

    /// At most eight, from the first on.
    private func ticks(first: Int64, count: Int64, step: Int64, slot: Double) -> [HTML] {
        let every = max(1, (count + 7) / 8)
        return stride(from: 0, to: count, by: Int(every)).map { index -> HTML in
            let x = Self.left + Double(index) * slot
            // The last one ends where the drawing does.
            let isCut = x + Self.labelWidth > Self.width
            return """
                <text x="\(coordinate(isCut ? Self.width : x))" y="\(coordinate(Self.height - 10))" \
                text-anchor="\(isCut ? "end" : "start")">\(label((first + index) * step, step))</text>
                """
        }
    }

    private func label(_ hour: Int64, _ step: Int64) -> String {
        let (day, rest) = (hour / 24, hour % 24)
        // `2031-03-01T06:…` cut to what is said.
        let text = Instant(microseconds: (day * 24 + rest) * 3_600_000_000).rfc3339
        return step == 1 ? text.dropFirst(5).prefix(5) + " " + text.dropFirst(11).prefix(5) : String(text.prefix(10))
    }
}
