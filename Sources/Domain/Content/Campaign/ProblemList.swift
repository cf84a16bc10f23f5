/// Collects what is wrong while a file is read, so that one run names everything.
struct ProblemList {
    let mode: CampaignFile.Mode
    private(set) var problems: [Problem] = []

    init(mode: CampaignFile.Mode) { self.mode = mode }

    mutating func add(_ code: ProblemCode, at pointer: JSONPointer, _ message: String, remedy: String) {
        guard mode == .strict || code.bindsDrafts else { return }
        problems.append(
            Problem(pointer: pointer.description, code: code.rawValue, message: message, remedy: remedy))
    }

    /// By pointer, then code, so that the same file gives the same list.
    var sorted: [Problem] {
        problems.sorted { ($0.pointer, $0.code) < ($1.pointer, $1.code) }
    }

    func throwIfAny() throws(ContentProblems) {
        if !problems.isEmpty { throw ContentProblems(sorted) }
    }
}
