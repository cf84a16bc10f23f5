extension Model {
    func flushSteps(_ worker: Int, _ hold: ModelHold, _ state: ModelState, _ visit: Visitor) {
        let isLast = !hold.slots.contains(.waiting)
        guard isLast || hold.slots.contains(where: \.isReady) else { return }
        guard hold.isOurs || !rules.contains(.fencedWrites) else {
            var next = state
            next.workers[worker].hold = nil
            visit(Step(kind: .flushLost, worker: worker), false, next)
            return
        }
        let index = Int(hold.batch)
        var next = state
        for (ordinal, slot) in hold.slots.enumerated() where slot.isReady {
            if rules.contains(.idempotentFlush), state.batches[index].isMarked(ordinal) { continue }
            record(slot, ordinal, of: index, &next)
        }
        let isDone = rules.contains(.serverDecidesDone) ? next.batches[index].isFull : isLast
        if isDone {
            next.batches[index].status = .done
            next.batches[index].holder = ModelBatch.nobody
        }
        if state.left.lostReply > 0 {
            // Committed, and the worker will send the same flush again.
            var lost = next
            lost.left.lostReply -= 1
            visit(Step(kind: .flushesReplyLost, worker: worker), true, lost)
        }
        if isDone || !hold.isOurs {
            next.workers[worker].hold = nil
        } else {
            for (ordinal, slot) in hold.slots.enumerated() where slot.isReady {
                next.workers[worker].hold?.slots[ordinal] = .foreign
            }
        }
        next.workers[worker].known = state.run
        visit(Step(kind: .flushes, worker: worker), false, next)
    }

    private func record(_ slot: Slot, _ ordinal: Int, of index: Int, _ state: inout ModelState) {
        let batch = state.batches[index]
        let attempts = batch.attempts[ordinal] + 1
        let job = batch.jobs[ordinal]
        let isDoubtful = rules.contains(.stickyDoubt) && (slot == .unanswered || batch.isDoubtful(ordinal))
        let outcome = standing(
            slot, isDoubtful: isDoubtful, isSpent: attempts >= scene.attempts, hasExpired: state.hasExpired)
        state.batches[index].mark(ordinal, as: outcome)
        if outcome == .moved {
            state.retries.append(ModelRetry(job: job, doubtful: isDoubtful, attempts: attempts))
            state.retries.sort()
        } else {
            state.fates[Int(job)].end(as: outcome)
        }
    }

    /// The outcome that stands, whatever the worker calls it.
    private func standing(_ slot: Slot, isDoubtful: Bool, isSpent: Bool, hasExpired: Bool) -> ModelOutcome {
        switch slot {
        case .delivered: return .delivered
        case .unanswered where scene.assumeSent: return .inDoubt
        case .retryable, .unanswered:
            if !isSpent, !hasExpired { return .moved }
            return isDoubtful ? .inDoubt : isSpent ? .failed : .expired
        case .refused: return isDoubtful ? .inDoubt : .failed
        case .expired: return isDoubtful ? .inDoubt : .expired
        case .skipped, .foreign, .waiting: return isDoubtful ? .inDoubt : .skipped
        }
    }
}
