/// The queue's protocol as a state machine: each step is one committed statement, or a worker's step between two, and all
/// orders are possible. What PostgreSQL does within a statement is not in it; the store's tests hold that.
struct Model: Sendable {
    let scene: Scene
    let rules: Rules

    /// Takes a step, whether it is a fault, and the state after it.
    typealias Visitor = (Step, Bool, ModelState) -> Void

    var start: ModelState {
        let jobs = scene.batches.map(\.count).reduce(0, +)
        return ModelState(
            batches: scene.batches.map { ModelBatch(jobs: $0, attempts: $0.map { _ in 0 }) },
            fates: Array(repeating: Fate(), count: jobs),
            workers: Array(repeating: ModelWorker(), count: scene.workers),
            accepted: Array(repeating: 0, count: jobs), left: scene.faults)
    }

    func forEachStep(from state: ModelState, _ visit: Visitor) {
        operatorSteps(state, visit)
        schedulerSteps(state, visit)
        settlementSteps(state, visit)
        rescueSteps(state, visit)
        for worker in state.workers.indices { workerSteps(worker, state, visit) }
    }

    // MARK: Operator and clock

    private func operatorSteps(_ state: ModelState, _ visit: Visitor) {
        if state.left.cancel > 0, state.run != .cancelled {
            var next = state
            next.run = .cancelled
            next.wasSettled = false
            next.left.cancel -= 1
            visit(Step(kind: .cancel), true, next)
        }
        if state.left.pause > 0, state.run == .running {
            var next = state
            next.run = .paused
            next.left.pause -= 1
            visit(Step(kind: .pause), true, next)
        }
        if state.run == .paused {
            var next = state
            next.run = .running
            visit(Step(kind: .resume), false, next)
        }
        if state.left.expiry > 0, !state.hasExpired {
            var next = state
            next.hasExpired = true
            next.left.expiry -= 1
            visit(Step(kind: .expiry), true, next)
        }
    }

    // MARK: Scheduler

    private func schedulerSteps(_ state: ModelState, _ visit: Visitor) {
        guard !state.retries.isEmpty, state.run == .running else { return }
        var next = state
        next.batches.append(batch(of: state.retries))
        next.retries = []
        visit(Step(kind: .rebatch), false, next)
    }

    private func batch(of retries: [ModelRetry]) -> ModelBatch {
        var batch = ModelBatch(jobs: retries.map(\.job), attempts: retries.map(\.attempts), isFromRetry: true)
        for (ordinal, retry) in retries.enumerated() where retry.doubtful && rules.contains(.stickyDoubt) {
            batch.doubtful |= UInt8(1 << ordinal)
        }
        return batch
    }

    // MARK: Janitor

    private func settlementSteps(_ state: ModelState, _ visit: Visitor) {
        let repeats = rules.contains(.settleRepeats)
        if state.run == .cancelled, repeats {
            for index in state.batches.indices where isSettleable(state.batches[index]) {
                var next = state
                settle(&next.batches[index], &next.fates, as: .cancelled)
                visit(Step(kind: .settleBatch, target: index), false, next)
            }
            if !state.retries.isEmpty { visit(Step(kind: .settleRetries), false, settlingRetries(state, .cancelled)) }
        } else if state.run == .cancelled, !state.wasSettled {
            var next = state
            next.wasSettled = true
            for index in state.batches.indices where isSettleable(state.batches[index]) {
                settle(&next.batches[index], &next.fates, as: .cancelled)
            }
            visit(Step(kind: .settleOnce), false, next)
        }
        guard state.hasExpired, repeats, state.run != .cancelled else { return }
        for index in state.batches.indices where state.batches[index].status == .ready {
            var next = state
            settle(&next.batches[index], &next.fates, as: .expired)
            visit(Step(kind: .expireBatch, target: index), false, next)
        }
        if !state.retries.isEmpty { visit(Step(kind: .expireRetries), false, settlingRetries(state, .expired)) }
    }

    private func isSettleable(_ batch: ModelBatch) -> Bool {
        batch.status == .ready || (batch.status == .leased && !rules.contains(.settleReadyOnly))
    }

    /// Through a batch born done, so that tallies stay the only place of counts.
    private func settlingRetries(_ state: ModelState, _ outcome: ModelOutcome) -> ModelState {
        var next = state
        var batch = batch(of: state.retries)
        settle(&batch, &next.fates, as: outcome)
        next.batches.append(batch)
        next.retries = []
        return next
    }

    /// Every unmarked job gets its outcome in one statement.
    private func settle(_ batch: inout ModelBatch, _ fates: inout [Fate], as outcome: ModelOutcome) {
        for ordinal in batch.jobs.indices where !batch.isMarked(ordinal) {
            let isDoubtful = rules.contains(.stickyDoubt) && mayHaveLeft(batch, ordinal)
            let ends = isDoubtful ? ModelOutcome.inDoubt : outcome
            batch.mark(ordinal, as: ends)
            fates[Int(batch.jobs[ordinal])].end(as: ends)
        }
        batch.status = .done
        batch.holder = ModelBatch.nobody
    }

    private func rescueSteps(_ state: ModelState, _ visit: Visitor) {
        for (index, batch) in state.batches.enumerated() where batch.status == .leased {
            let isUnanswered = !rules.contains(.answeredClaimsOnly) && isBeingClaimed(index, state)
            if batch.holder == ModelBatch.stranger || isUnanswered, rules.contains(.strangersReturn) {
                var next = state
                next.batches[index].status = .ready
                next.batches[index].holder = ModelBatch.nobody
                next.batches[index].announced = 0
                visit(Step(kind: .strangerReturns, target: index), false, next)
            }
            let isDead = batch.holder == ModelBatch.dead
            guard isDead || state.left.falseRescue > 0 else { continue }
            var next = state
            name(&next.batches[index], &next.fates)
            free(&next.batches[index], &next.fates)
            if !isDead { next.left.falseRescue -= 1 }
            visit(Step(kind: isDead ? .rescue : .falseRescue, target: index), !isDead, next)
        }
    }

    private func isBeingClaimed(_ index: Int, _ state: ModelState) -> Bool {
        let holder = Int(state.batches[index].holder)
        return state.workers.indices.contains(holder) && state.workers[holder].claiming?.batch == UInt8(index)
    }

    /// Rescue, or a hand-back at the limit. Under assume_sent what may have left ends as in_doubt, now.
    func free(_ batch: inout ModelBatch, _ fates: inout [Fate]) {
        if scene.assumeSent {
            for ordinal in batch.jobs.indices where !batch.isMarked(ordinal) {
                guard mayHaveLeft(batch, ordinal) || !rules.contains(.announcements) else { continue }
                batch.mark(ordinal, as: .inDoubt)
                fates[Int(batch.jobs[ordinal])].end(as: .inDoubt)
            }
        }
        if rules.contains(.announcements) {
            batch.doubtful |= UInt8(1 << batch.announced) - 1
            batch.announced = 0
        }
        batch.status = batch.isFull ? .done : .ready
        batch.holder = ModelBatch.nobody
    }

    /// A lapse: from the third on, what a suspect batch had announced is set aside.
    private func name(_ batch: inout ModelBatch, _ fates: inout [Fate]) {
        guard scene.poison != nil else { return }
        if batch.lapses >= 2, rules.contains(.poisonEnds), !scene.assumeSent {
            for ordinal in batch.jobs.indices where !batch.isMarked(ordinal) && ordinal < Int(batch.announced) {
                batch.mark(ordinal, as: .inDoubt)
                batch.named.append(batch.jobs[ordinal])
                fates[Int(batch.jobs[ordinal])].end(as: .inDoubt)
            }
        }
        batch.lapses = min(batch.lapses + 1, 3)
    }

    /// As far as the tables know.
    private func mayHaveLeft(_ batch: ModelBatch, _ ordinal: Int) -> Bool {
        batch.isDoubtful(ordinal) || (rules.contains(.announcements) && ordinal < Int(batch.announced))
    }
}
