import Domain
import QueueStore

/// A campaign's report as one page that needs nothing else: no script, no font, no picture from elsewhere.
struct CampaignPage {
    let figures: CampaignFigures
    /// Of those runs that devices told something of.
    var events: [EventFigures] = []

    var html: HTML {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8"><title>\(figures.name) – campaign \(Int(figures.campaign))</title>
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <style>\(PageStyle.css)</style></head><body>
        <header><h1>\(figures.name)</h1>
        <p>Campaign \(Int(figures.campaign)) of app \(figures.app), \(figures.state), created \(figures.createdAt) UTC. \
        As of \(figures.asOf) UTC.</p></header>
        \(tiles)
        \(BarChart(title: "Outcomes", parts: outcomes, hasLegend: false).html)
        \(runs)
        \(engagement)
        \(BarChart(title: "By transport", parts: figures.transports).html)
        \(BarChart(title: "By language served", parts: figures.languages).html)
        \(BarChart(title: "Why not delivered", parts: undelivered, ifEmpty: "Nothing was left undelivered.").html)
        \(HourChart(hours: figures.hours).html)
        \(latency)
        <footer>\(accounting)</footer>
        </body></html>

        """
    }

    private func sum(_ value: (Accounting) -> Int64) -> Int64 { figures.runs.reduce(0) { $0 + value($1.accounting) } }

    private var tiles: HTML {
        let (targeted, delivered) = (sum(\.targeted), sum(\.delivered))
        var tiles: [(name: String, number: Int64, share: String)] = [
            ("Targeted", targeted, figures.runs.count == 1 ? "in 1 run" : "in \(figures.runs.count) runs"),
            ("Delivered to the provider", delivered, percent(delivered, of: targeted)),
            ("Not delivered", sum(\.settled) - delivered, percent(sum(\.settled) - delivered, of: targeted)),
            ("Still waiting", sum(\.open), percent(sum(\.open), of: targeted)),
            ("Sent twice at most", sum(\.repeatBound), percent(sum(\.repeatBound), of: targeted)),
        ]
        if !events.isEmpty {
            let opened = events.reduce(0) { $0 + $1.opened }
            tiles.append(("Opened", opened, "\(percent(opened, of: delivered)) of those delivered"))
        }
        let drawn = tiles.map { tile -> HTML in
            """
            <div class="tile"><b>\(grouped(tile.number))</b><span>\(tile.name)</span><small>\(tile.share)</small></div>
            """
        }
        return "<div class=\"tiles\">\(HTML(drawn))</div>"
    }

    /// Exact, also while a run goes on: from the runs' own counts.
    private var outcomes: [CampaignFigures.Part] {
        [
            ("delivered", sum(\.delivered)), ("failed", sum(\.failed)), ("unregistered", sum(\.unregistered)),
            ("expired", sum(\.expired)), ("cancelled", sum(\.cancelled)), ("skipped", sum(\.skipped)),
            ("in_doubt", sum(\.inDoubt)),
        ].filter { $0.1 > 0 }.map { CampaignFigures.Part(group: $0.0, outcome: $0.0, jobs: $0.1) }
    }

    private var undelivered: [CampaignFigures.Part] { figures.reasons.filter { $0.outcome != "delivered" } }

    private var runs: HTML {
        let lines = figures.runs.map { line -> HTML in
            let a = line.accounting
            let numbers = [
                a.targeted, a.open, a.delivered, a.failed, a.unregistered, a.expired, a.cancelled, a.skipped, a.inDoubt,
            ]
            let cells = numbers.map { number -> HTML in "<td class=\"n\">\(grouped(number))</td>" }
            return """
                <tr><th scope="row">\(Int(line.run))</th><td>\(line.status)</td><td>\(when(line.dueAt))</td>\
                <td>\(when(line.closedAt ?? "-"))</td>\(HTML(cells))</tr>
                """
        }
        return """
            <section><h2>Runs</h2><div class="wide"><table class="figures"><thead><tr><th>Run</th><th>Status</th><th>Due, UTC</th>\
            <th>Closed, UTC</th><th class="n">Targeted</th><th class="n">Open</th><th class="n">Delivered</th>\
            <th class="n">Failed</th><th class="n">Unregistered</th><th class="n">Expired</th>\
            <th class="n">Cancelled</th><th class="n">Skipped</th><th class="n">In doubt</th></tr></thead><tbody>
            \(HTML(lines))
            </tbody></table></div></section>
            """
    }

    /// Day and time, which may stand below each other but are not broken themselves.
    private func when(_ instant: String) -> HTML {
        HTML(instant.split(separator: " ").map { part -> HTML in "<span class=\"when\">\(String(part))</span>" })
    }

    private var engagement: HTML {
        guard !events.isEmpty else { return "" }
        let lines = events.map { line -> HTML in
            let cells = [line.delivered, line.shown, line.opened, line.actions, line.dismissed].map { number -> HTML in
                "<td class=\"n\">\(grouped(number))</td>"
            }
            let rate = line.clickRate.map { rate -> HTML in
                "\(share(rate.share)) <small>\(share(rate.low)) to \(share(rate.high))</small>"
            }
            return "<tr><th scope=\"row\">\(Int(line.run))</th>\(HTML(cells))<td class=\"n\">\(rate ?? "-")</td></tr>"
        }
        return """
            <section><h2>What devices reported</h2><div class="wide"><table class="figures"><thead><tr><th>Run</th>\
            <th class="n">On the device</th><th class="n">Shown</th><th class="n">Opened</th>\
            <th class="n">Action taken</th><th class="n">Dismissed</th>\
            <th class="n">Click rate, 95 % interval</th></tr></thead><tbody>
            \(HTML(lines))
            </tbody></table></div><p class="note">Click rate: opened, of those delivered to the provider.</p></section>
            """
    }

    private func share(_ value: Double) -> String { percent(Int64((value * 100_000).rounded()), of: 100_000) }

    private var latency: HTML {
        guard !figures.latencies.isEmpty else { return "" }
        let lines = figures.latencies.map { line -> HTML in
            let cells = line.percentiles.map { value -> HTML in "<td class=\"n\">\(grouped(value))</td>" }
            return """
                <tr><th scope="row">\(Int(line.run))</th><td>\(line.transport)</td><td>\(line.kind)</td>\
                <td class="n">\(grouped(line.jobs))</td>\(HTML(cells))</tr>
                """
        }
        return """
            <section><h2>Latency, milliseconds</h2><div class="wide"><table class="figures"><thead><tr><th>Run</th><th>Transport</th>\
            <th>From … to</th><th class="n">Jobs</th><th class="n">50 %</th><th class="n">90 %</th>\
            <th class="n">95 %</th><th class="n">99 %</th></tr></thead><tbody>
            \(HTML(lines))
            </tbody></table></div><p class="note">Upper bounds of classes: at most a fifth too high.</p></section>
            """
    }

    private var accounting: HTML {
        let places = [
            ("pending", sum(\.pending)), ("leased", sum(\.leased)), ("retrying", sum(\.retrying)),
            ("delivered", sum(\.delivered)), ("failed", sum(\.failed)), ("unregistered", sum(\.unregistered)),
            ("expired", sum(\.expired)), ("cancelled", sum(\.cancelled)), ("skipped", sum(\.skipped)),
            ("in doubt", sum(\.inDoubt)),
        ].map { "\(grouped($0.1)) \($0.0)" }.joined(separator: " + ")
        return """
            <p>Accounting: \(grouped(sum(\.targeted))) targeted = \(places).</p>
            <p>Accounting violations: \(Int(figures.violations)). Delivered means that the provider accepted it. Counts by \
            transport, language, reason and time are up to a minute behind while a run goes on.</p>
            """
    }
}
