extension Model {
    func workerSteps(_ worker: Int, _ state: ModelState, _ visit: Visitor) {
        guard let hold = state.workers[worker].hold else { return claimSteps(worker, state, visit) }
        if state.left.kill > 0 {
            var next = state
            if hold.isOurs { next.batches[Int(hold.batch)].holder = ModelBatch.dead }
            next.workers[worker] = ModelWorker()
            next.left.kill -= 1
            visit(Step(kind: .killed, worker: worker), true, next)
        }
        if state.workers[worker].known == .running, let first = hold.slots.firstIndex(of: .waiting) {
            announceStep(worker, hold, first, state, visit)
            sendSteps(worker, hold, first, state, visit)
        }
        flushSteps(worker, hold, state, visit)
        backSteps(worker, hold, state, visit)
    }

    private func claimSteps(_ worker: Int, _ state: ModelState, _ visit: Visitor) {
        if let claim = state.workers[worker].claiming { return answerSteps(worker, claim, state, visit) }
        if let claim = state.workers[worker].late {
            var next = state
            next.workers[worker] = ModelWorker(hold: hold(claim, isOurs: false, state))
            visit(Step(kind: .lateAnswerUsed, worker: worker, target: Int(claim.batch)), false, next)
        }
        guard state.run == .running else { return }
        for (index, batch) in state.batches.enumerated() where batch.status == .ready {
            let claimed = claiming(index, by: Int8(worker), state)
            let claim = ModelClaim(batch: UInt8(index), announced: claimed.batches[index].announced)
            var next = claimed
            next.workers[worker] = ModelWorker(hold: hold(claim, isOurs: true, claimed))
            visit(Step(kind: .claims, worker: worker, target: index), false, next)
            if state.left.lostReply > 0 {
                var lost = claiming(index, by: ModelBatch.stranger, state)
                lost.left.lostReply -= 1
                visit(Step(kind: .claimsReplyLost, worker: worker, target: index), true, lost)
            }
            if state.left.lateReply > 0 {
                var late = claimed
                late.workers[worker] = ModelWorker(claiming: claim)
                late.left.lateReply -= 1
                visit(Step(kind: .claimsReplyLate, worker: worker, target: index), true, late)
            }
        }
    }

    /// The first window is announced with the claim; of a suspect batch nothing.
    private func claiming(_ index: Int, by holder: Int8, _ state: ModelState) -> ModelState {
        var next = state
        next.batches[index].status = .leased
        next.batches[index].holder = holder
        let batch = state.batches[index]
        guard rules.contains(.announcements), let first = batch.jobs.indices.first(where: { !batch.isMarked($0) })
        else { return next }
        next.batches[index].announced = UInt8(min(batch.size, first + (isSuspect(batch) ? 0 : scene.window)))
        return next
    }

    private func isSuspect(_ batch: ModelBatch) -> Bool { batch.lapses >= 2 && rules.contains(.suspectWindow) }

    /// What a worker has in hand when it has read the jobs of a claimed batch.
    private func hold(_ claim: ModelClaim, isOurs: Bool, _ state: ModelState) -> ModelHold {
        let batch = state.batches[Int(claim.batch)]
        let slots = batch.jobs.indices.map { ordinal -> Slot in
            if batch.isMarked(ordinal) { return .foreign }
            guard scene.erased.contains(batch.jobs[ordinal]) else { return .waiting }
            return rules.contains(.outerJoin) ? .skipped : .foreign
        }
        return ModelHold(batch: claim.batch, isOurs: isOurs, slots: slots, announced: claim.announced)
    }

    /// Between a claim that was committed and its answer.
    private func answerSteps(_ worker: Int, _ claim: ModelClaim, _ state: ModelState, _ visit: Visitor) {
        let index = Int(claim.batch)
        let batch = state.batches[index]
        let isOurs = batch.status == .leased && batch.holder == Int8(worker)
        var answered = state
        answered.workers[worker] = ModelWorker(hold: hold(claim, isOurs: isOurs, state))
        visit(Step(kind: .claimAnswered, worker: worker, target: index), false, answered)
        var given = state
        given.workers[worker] = ModelWorker(late: rules.contains(.lateAnswersUnused) ? nil : claim)
        if isOurs { given.batches[index].holder = ModelBatch.stranger }
        visit(Step(kind: .givesUpClaim, worker: worker, target: index), false, given)
        guard state.left.kill > 0 else { return }
        var killed = state
        killed.workers[worker] = ModelWorker()
        if isOurs { killed.batches[index].holder = ModelBatch.dead }
        killed.left.kill -= 1
        visit(Step(kind: .killed, worker: worker), true, killed)
    }

    /// The next window, committed before anything of it is begun.
    private func announceStep(
        _ worker: Int, _ hold: ModelHold, _ first: Int, _ state: ModelState, _ visit: Visitor
    ) {
        guard rules.contains(.announcements), first >= Int(hold.announced) else { return }
        var next = state
        guard hold.isOurs else {
            next.workers[worker].hold = nil
            visit(Step(kind: .announcesLost, worker: worker), false, next)
            return
        }
        let index = Int(hold.batch)
        // Of a suspect batch the next only when all before it is recorded.
        if isSuspect(state.batches[index]), hold.slots.contains(where: \.isReady) { return }
        let window = isSuspect(state.batches[index]) ? 1 : scene.window
        let until = UInt8(min(hold.slots.count, first + window))
        next.batches[index].announced = max(next.batches[index].announced, until)
        next.workers[worker].hold?.announced = until
        next.workers[worker].known = state.run
        visit(Step(kind: .announces, worker: worker, target: Int(until)), false, next)
    }

    private func sendSteps(
        _ worker: Int, _ hold: ModelHold, _ ordinal: Int, _ state: ModelState, _ visit: Visitor
    ) {
        let job = Int(state.batches[Int(hold.batch)].jobs[ordinal])
        func sending(_ slot: Slot) -> ModelState {
            var next = state
            next.workers[worker].hold?.slots[ordinal] = slot
            return next
        }
        if state.hasExpired {
            visit(Step(kind: .findsExpired, worker: worker, target: job), false, sending(.expired))
            return
        }
        guard !rules.contains(.announcements) || ordinal < Int(hold.announced) else { return }
        if scene.poison == UInt8(job) {
            var next = state
            if hold.isOurs { next.batches[Int(hold.batch)].holder = ModelBatch.dead }
            next.workers[worker] = ModelWorker()
            return visit(Step(kind: .diesOf, worker: worker, target: job), false, next)
        }
        var accepted = sending(.delivered)
        accepted.accepted[job] += 1
        visit(Step(kind: .accepted, worker: worker, target: job), false, accepted)
        if state.left.rejection > 0 {
            var next = sending(.retryable)
            next.left.rejection -= 1
            visit(Step(kind: .retryable, worker: worker, target: job), false, next)
        }
        if state.left.refusal > 0 {
            var next = sending(.refused)
            next.left.refusal -= 1
            visit(Step(kind: .refused, worker: worker, target: job), false, next)
        }
        if state.left.timeout > 0 {
            var next = sending(.unanswered)
            next.accepted[job] += 1
            next.left.timeout -= 1
            visit(Step(kind: .unanswered, worker: worker, target: job), false, next)
        }
    }

    private func backSteps(_ worker: Int, _ hold: ModelHold, _ state: ModelState, _ visit: Visitor) {
        let known = state.workers[worker].known
        let hasReady = hold.slots.contains(where: \.isReady)
        let hasWaiting = hold.slots.contains(.waiting)
        // One that only waits learns of pause and cancel too, by its pulse.
        if known != state.run, !hasReady, hasWaiting {
            var next = state
            next.workers[worker].known = state.run
            visit(Step(kind: .readsControl, worker: worker), false, next)
        }
        // Nothing is in flight and everything answered is flushed: what was announced is known not to have left.
        if known != .running || state.left.stop > 0, !hasReady, hasWaiting {
            var next = state
            next.workers[worker] = ModelWorker()
            if known == .running { next.left.stop -= 1 }
            if hold.isOurs {
                next.batches[Int(hold.batch)].status = .ready
                next.batches[Int(hold.batch)].holder = ModelBatch.nobody
                if rules.contains(.announcements) { next.batches[Int(hold.batch)].announced = 0 }
            }
            visit(Step(kind: hold.isOurs ? .handsBack : .handBackLost, worker: worker), false, next)
        }
        // The limit has passed and answers are outstanding: in the tables nothing tells them from those not flushed.
        let hasLeft = hold.slots.contains { [.delivered, .refused, .retryable, .unanswered].contains($0) }
        if state.left.stop > 0, hasLeft, hold.isOurs {
            var next = state
            if rules.contains(.handBackReports) {
                free(&next.batches[Int(hold.batch)], &next.fates)
            } else {
                next.batches[Int(hold.batch)].status = .ready
                next.batches[Int(hold.batch)].holder = ModelBatch.nobody
            }
            next.workers[worker] = ModelWorker()
            next.left.stop -= 1
            visit(Step(kind: .hardHandBack, worker: worker), true, next)
        }
    }
}
