extension CampaignReader {
    /// `{"rules": ["frequency_cap", "quiet_hours"], "reason": "…"}`: which rules do not hold, and why.
    mutating func bypass(_ delivery: JSONMembers) -> Bypass? {
        guard let members = problems.object("bypass", of: delivery, known: ["rules", "reason"]) else { return nil }
        let rules = rules(members)
        let remedy = "Say in 1 to \(Bypass.maximumReasonBytes) bytes why it may disturb: it is kept for whoever asks."
        let reason = problems.inkedString("reason", of: members, else: .deliveryInvalid, remedy: remedy) ?? ""
        if reason.utf8.count > Bypass.maximumReasonBytes {
            problems.add(.deliveryInvalid, at: members.pointer / "reason", "The reason is too long.", remedy: remedy)
        }
        return Bypass(rules: rules, reason: reason)
    }

    private mutating func rules(_ bypass: JSONMembers) -> Set<Bypass.Rule> {
        let words = Bypass.Rule.allCases.map(\.rawValue).joined(separator: ", ")
        let elements = problems.array("rules", of: bypass) ?? []
        if elements.isEmpty, bypass["rules"].map({ if case .array = $0 { true } else { false } }) ?? true {
            problems.add(
                .deliveryInvalid, at: bypass.pointer / "rules", "No rule is named.", remedy: "Name one of: \(words).")
        }
        var rules: Set<Bypass.Rule> = []
        for (index, element) in elements.enumerated() {
            guard let text = problems.string(element, at: bypass.pointer / "rules" / index) else { continue }
            guard let rule = Bypass.Rule(rawValue: text), rules.insert(rule).inserted else {
                problems.add(
                    .deliveryInvalid, at: bypass.pointer / "rules" / index, "This is no rule, or named twice.",
                    remedy: "Use each once of: \(words).")
                continue
            }
        }
        return rules
    }
}
