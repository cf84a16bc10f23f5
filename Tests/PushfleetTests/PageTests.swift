import Foundation
@testable import QueueStore
import Testing

@testable import Pushfleet

@Suite struct PageTests {
    private static func figures(
        name: String = "Winter", hours: [CampaignFigures.Hour] = [], reasons: [CampaignFigures.Part] = []
    ) -> CampaignFigures {
        CampaignFigures(
            campaign: 4, name: name, app: "ferry", state: "active", createdAt: "2031-03-01 06:00",
            asOf: "2031-03-01 09:30",
            runs: [
                CampaignFigures.RunLine(
                    run: 7, status: "done", dueAt: "2031-03-01 07:00", closedAt: "2031-03-01 08:00",
                    accounting: Accounting(
                        targeted: 1234, pending: 0, leased: 0, retrying: 0, delivered: 1200, failed: 4,
                        unregistered: 20, expired: 5, cancelled: 0, skipped: 3, inDoubt: 2, repeatBound: 1))
            ],
            transports: [.init(group: "fcm", outcome: "delivered", jobs: 1200)], languages: [], reasons: reasons,
            hours: hours, latencies: [], violations: 0)
    }

    @Test(arguments: ["<script>alert(1)</script>", "a \"b\" 'c' & d", "</title><img onerror=x>"])
    func `A value is text, whatever it holds`(name: String) {
        let text = CampaignPage(figures: Self.figures(name: name)).html.text
        #expect(!text.contains(name))
        #expect(!text.contains("<script") && !text.contains("<img"))
        let escaped: HTML = "\(name)"
        #expect(text.contains("<h1>\(escaped.text)</h1>"))
    }

    @Test func `The page needs nothing from elsewhere`() {
        let text = CampaignPage(figures: Self.figures()).html.text
        for foreign in ["http:", "https:", "src=", "href=", "url(", "@import", "<link", "<script"] {
            #expect(!text.contains(foreign), "\(foreign)")
        }
    }

    @Test func `The accounting line adds up on the page`() {
        let text = CampaignPage(figures: Self.figures()).html.text
        let open = "1,234 targeted = 0 pending + 0 leased + 0 retrying"
        let over = "1,200 delivered + 4 failed + 20 unregistered + 5 expired + 0 cancelled + 3 skipped + 2 in doubt"
        #expect(text.contains("Accounting: \(open) + \(over)."))
        #expect(text.contains("Accounting violations: 0"))
    }

    @Test func `Many groups are drawn as the largest and the rest`() {
        let parts = (0..<30).map { CampaignFigures.Part(group: "g\($0)", outcome: "delivered", jobs: Int64(100 - $0)) }
        let text = BarChart(title: "By reason", parts: parts).html.text
        #expect(text.components(separatedBy: "<tr>").count - 1 == 12)
        #expect(text.contains("19 others"))
    }

    @Test(arguments: [(3, "hour"), (200, "day")])
    func `A long series is drawn by the day`(hours: Int64, unit: String) {
        let series = (0..<hours).map { CampaignFigures.Hour(hour: 500_000 + $0, outcome: "delivered", jobs: 10) }
        let text = HourChart(hours: series).html.text
        #expect(text.contains("by the \(unit)"))
        let columns = text.components(separatedBy: "<rect").count - 1
        #expect(columns == (unit == "hour" ? 3 : 9))
    }

    @Test func `A series of one hour is said, not drawn`() {
        let text = HourChart(hours: [.init(hour: 500_000, outcome: "delivered", jobs: 10)]).html.text
        #expect(text.contains("All within the hour from 01-15 08:00 UTC") && !text.contains("<rect"), "\(text)")
    }

    @Test func `What was delivered has no reason, and what was not has its share of those`() {
        let reasons: [CampaignFigures.Part] = [
            .init(group: "none", outcome: "delivered", jobs: 1200),
            .init(group: "fcm_unregistered", outcome: "unregistered", jobs: 3),
            .init(group: "payload_too_large", outcome: "failed", jobs: 1),
        ]
        let text = CampaignPage(figures: Self.figures(reasons: reasons)).html.text
        let part =
            text.components(separatedBy: "<h2>Why not delivered</h2>").last?
            .components(separatedBy: "</section>").first ?? ""
        #expect(part.contains("fcm_unregistered") && part.contains("75.0 %") && !part.contains("1,200"))
        let all = CampaignPage(figures: Self.figures()).html.text
        #expect(all.contains("Nothing was left undelivered."))
    }

    @Test(arguments: [(1, 3, "33.3 %"), (0, 5, "0.0 %"), (5, 5, "100.0 %"), (1, 0, "-")] as [(Int64, Int64, String)])
    func `Shares have one digit of fraction`(part: Int64, whole: Int64, text: String) {
        #expect(percent(part, of: whole) == text)
    }
}
