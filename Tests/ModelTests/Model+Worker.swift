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
        guard state.run == .running else { return }
        for (index, batch) in state.batches.enumerated() where batch.status == .ready {
            let slots = batch.jobs.indices.map { ordinal -> Slot in
                if batch.isMarked(ordinal) { return .foreign }
                guard scene.erased.contains(batch.jobs[ordinal]) else { return .waiting }
                return rules.contains(.outerJoin) ? .skipped : .foreign
            }
            var next = state
            next.batches[index].status = .leased
            next.batches[index].holder = Int8(worker)
            next.workers[worker] = ModelWorker(hold: ModelHold(batch: UInt8(index), isOurs: true, slots: slots))
            visit(Step(kind: .claims, worker: worker, target: index), false, next)
            guard state.left.lostReply > 0 else { continue }
            var lost = state
            lost.batches[index].status = .leased
            lost.batches[index].holder = ModelBatch.stranger
            lost.left.lostReply -= 1
            visit(Step(kind: .claimsReplyLost, worker: worker, target: index), true, lost)
        }
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
        let until = UInt8(min(hold.slots.count, first + scene.window))
        let index = Int(hold.batch)
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
