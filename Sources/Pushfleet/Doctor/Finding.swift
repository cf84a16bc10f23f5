/// What one check found.
struct Finding: Encodable, Sendable, Equatable {
    enum State: String, Encodable, Sendable {
        case ok
        /// Works, but could be better.
        case advice
        case wrong
    }

    /// What was looked at.
    var check: String
    var state: State
    var found: String
    /// What to do; nil = nothing.
    var remedy: String?

    static func ok(_ check: String, _ found: String) -> Finding { Finding(check: check, state: .ok, found: found) }

    static func advice(_ check: String, _ found: String, remedy: String) -> Finding {
        Finding(check: check, state: .advice, found: found, remedy: remedy)
    }

    static func wrong(_ check: String, _ found: String, remedy: String) -> Finding {
        Finding(check: check, state: .wrong, found: found, remedy: remedy)
    }
}

/// All findings of a check-up.
struct Findings: Encodable {
    var findings: [Finding]
    var isWell: Bool { !findings.contains { $0.state == .wrong } }

    /// Aligned, each remedy below its finding.
    var text: String {
        var table = TextTable(["STATE", "CHECK", "FOUND"])
        for each in findings { table.add([each.state.rawValue, each.check, each.found]) }
        let lines = table.text.split(separator: "\n")
        var text = String(lines.first ?? "") + "\n"
        for (line, finding) in zip(lines.dropFirst(), findings) {
            text += line + "\n"
            if let remedy = finding.remedy { text += "        -> \(remedy)\n" }
        }
        let wrong = findings.filter { $0.state == .wrong }.count
        text += isWell ? "all is well: \(findings.count) checks\n" : "\(wrong) of \(findings.count) checks are wrong\n"
        return text
    }
}
