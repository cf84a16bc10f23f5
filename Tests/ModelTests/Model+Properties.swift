/// What must hold in every state that can be reached.
enum Violation: String, Hashable, Sendable {
    case secondOutcome = "second outcome"
    case identity = "the accounting identity is violated"
    case untrueOutcome = "an outcome says that a job did not leave which the provider took"
    case sentTwice = "sent twice under assume_sent"
    case needlessDoubt = "in_doubt without a fault that could leave one"
    case unboundedRepeats = "repeats beyond their bound"
    case wronglyNamed = "a job was set aside as poison that is none"
    case stuck = "a state without a way to the end"
}

extension Model {
    func violation(in state: ModelState) -> Violation? {
        if state.fates.contains(where: { $0.records > 1 }) { return .secondOutcome }
        if !isBalanced(state) { return .identity }
        for (fate, accepted) in zip(state.fates, state.accepted) where accepted > 0 {
            switch fate.first {
            case .failed?, .cancelled?, .expired?, .skipped?: return .untrueOutcome
            case .delivered?, .inDoubt?, .moved?, nil: break
            }
        }
        if scene.assumeSent, state.accepted.contains(where: { $0 > 1 }) { return .sentTwice }
        if scene.doubts == 0, state.fates.contains(where: { $0.first == .inDoubt }) { return .needlessDoubt }
        if state.accepted.contains(where: { Int($0) > 1 + scene.doubts }) { return .unboundedRepeats }
        if state.batches.contains(where: { $0.named.contains { $0 != scene.poison } }) { return .wronglyNamed }
        return nil
    }

    /// targeted = pending + leased + retrying + outcomes, counted from batches; and retrying counted from its rows.
    private func isBalanced(_ state: ModelState) -> Bool {
        var (targeted, outcomes, moved, returned, open) = (0, 0, 0, 0, 0)
        for batch in state.batches {
            let settled = batch.tallies.sum
            guard settled <= batch.size, batch.status != .done || settled == batch.size else { return false }
            if batch.isFromRetry { returned += batch.size } else { targeted += batch.size }
            moved += batch.tallies[.moved]
            outcomes += settled - batch.tallies[.moved]
            if batch.status != .done { open += batch.size - settled }
        }
        return targeted == outcomes + moved - returned + open && moved - returned == state.retries.count
    }

    func isFinished(_ state: ModelState) -> Bool {
        state.retries.isEmpty && state.fates.allSatisfy { $0.records == 1 }
            && state.batches.allSatisfy { $0.status == .done }
    }
}
