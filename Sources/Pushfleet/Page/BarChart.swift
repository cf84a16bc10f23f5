import QueueStore

/// One horizontal bar for each value of a dimension, cut by outcome.
struct BarChart {
    let title: String
    /// Groups in the order in which they are drawn.
    let parts: [CampaignFigures.Part]
    /// More are drawn as one: "others".
    var mostGroups = 12
    /// Not where groups and outcomes are the same.
    var hasLegend = true
    var ifEmpty = "Nothing counted yet."

    private static let width = 420

    var html: HTML {
        guard !parts.isEmpty else {
            return "<section><h2>\(title)</h2><p class=\"empty\">\(ifEmpty)</p></section>"
        }
        let rows = grouped
        let largest = max(1, rows.map { total($0.parts) }.max() ?? 1)
        let whole = max(1, total(parts))
        let lines = rows.map { row -> HTML in
            """
            <tr><th scope="row">\(row.name)</th><td class="bar">\(bar(row.parts, largest: largest))</td>\
            <td class="n">\(Pushfleet.grouped(total(row.parts)))</td>\
            <td class="n">\(percent(total(row.parts), of: whole))</td></tr>
            """
        }
        return """
            <section><h2>\(title)</h2>
            \(hasLegend ? OutcomeColor.legend(Set(parts.map(\.outcome))) : "")
            <table class="bars"><tbody>
            \(HTML(lines))
            </tbody></table></section>
            """
    }

    private var grouped: [(name: String, parts: [CampaignFigures.Part])] {
        var names: [String] = []
        for part in parts where !names.contains(part.group) { names.append(part.group) }
        let byName = Dictionary(grouping: parts, by: \.group)
        guard names.count > mostGroups else { return names.map { ($0, byName[$0] ?? []) } }
        let others = names.dropFirst(mostGroups - 1).flatMap { byName[$0] ?? [] }
        return names.prefix(mostGroups - 1).map { ($0, byName[$0] ?? []) }
            + [("\(names.count - mostGroups + 1) others", others)]
    }

    private func bar(_ parts: [CampaignFigures.Part], largest: Int64) -> HTML {
        let outcomes = Dictionary(grouping: parts, by: \.outcome).sorted {
            OutcomeColor.rank(of: $0.key) < OutcomeColor.rank(of: $1.key)
        }
        var x = 0.0
        var pieces: [HTML] = []
        for (outcome, parts) in outcomes {
            let jobs = total(parts)
            let width = Double(jobs) / Double(largest) * Double(Self.width)
            pieces.append(
                """
                <rect x="\(coordinate(x))" y="0" width="\(coordinate(width))" height="14" \
                fill="\(OutcomeColor.color(of: outcome))"><title>\(outcome): \(Pushfleet.grouped(jobs))</title></rect>
                """)
            x += width
        }
        return """
            <svg viewBox="0 0 \(Self.width) 14" preserveAspectRatio="none" role="img" \
            aria-label="\(Pushfleet.grouped(total(parts)))">\(HTML(pieces))</svg>
            """
    }

    private func total(_ parts: [CampaignFigures.Part]) -> Int64 { parts.reduce(0) { $0 + $1.jobs } }
}

/// With one digit of fraction.
func percent(_ part: Int64, of whole: Int64) -> String {
    guard whole > 0 else { return "-" }
    let tenths = (Double(part) / Double(whole) * 1000).rounded()
    return "\(Int64(tenths) / 10).\(Int64(tenths) % 10) %"
}

/// A length in a drawing, to a tenth.
func coordinate(_ value: Double) -> String {
    let tenths = Int64((value * 10).rounded())
    return "\(tenths / 10).\(abs(tenths % 10))"
}
