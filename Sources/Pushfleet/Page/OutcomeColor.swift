/// How outcomes are drawn: always in this order and in these colours, told apart by eyes that see no red or green too.
enum OutcomeColor {
    static let all: [(outcome: String, color: String)] = [
        ("delivered", "#1b7f5c"), ("failed", "#c8472f"), ("unregistered", "#8a5a2b"), ("expired", "#e0a100"),
        ("cancelled", "#6b7280"), ("skipped", "#b8c0cc"), ("in_doubt", "#7a4fbf"),
    ]

    static func color(of outcome: String) -> String { all.first { $0.outcome == outcome }?.color ?? "#000000" }

    static func rank(of outcome: String) -> Int { all.firstIndex { $0.outcome == outcome } ?? all.count }

    /// What the colours mean, for those that occur.
    static func legend(_ outcomes: Set<String>) -> HTML {
        let keys = all.filter { outcomes.contains($0.outcome) }.map { outcome, color -> HTML in
            "<span class=\"key\"><i style=\"background:\(color)\"></i>\(outcome)</span>"
        }
        return "<p class=\"legend\">\(HTML(keys))</p>"
    }
}
