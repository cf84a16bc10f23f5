import Domain
import ServiceLifecycle
import Threading
import Logging

extension Worker {
    /// Takes results as they arrive and begins what they made room for.
    func resultLoop() async {
        while phase != .over, !Task.isCancelled {
            await arrived.wait(until: clock.now + .milliseconds(200))
            takeResults()
            pump()
        }
    }

    func takeResults() {
        let results = arrivals.withLock { arrivals in
            defer { arrivals = [] }
            return arrivals
        }
        guard !results.isEmpty else { return }
        let now = clock.now
        for result in results { take(result, now: now) }
        if unrecorded >= configuration.flushSize || (isDraining && inFlight == 0) { flushWanted.signal() }
    }

    private func take(_ result: SendResult, now: ContinuousClock.Instant) {
        // A batch that was lost or given back: its next holder knows what to do with the job.
        guard let batch = held[result.ticket.batch], let job = batch.job(result.ticket.ordinal) else { return }
        let verdict = Verdict(result)
        let staysWithBatch = noteHealth(result, verdict, of: batch, now: now)
        switch verdict {
        case .beginAgain:
            if case .tryAgain(let second) = result.fate { batch.secondTries[job.ordinal] = second }
            batch.noteReturned(job)
        case .record where staysWithBatch:
            batch.noteReturned(job)
        case .record(let ruling):
            batch.noteAnswered()
            batch.movedAt = now
            metrics.answered(transport: batch.route.transport, outcome: ruling.outcome, latency: result.latency)
            batch.unrecorded.append(item(for: job, of: batch, result, ruling, now: now))
            if case .answered(let answer) = result.fate, batch.claimed.terms.lane == .campaign {
                countRefusals(answer, of: batch.claimed.run)
            }
            keepEvidence(ruling, of: job, in: batch, result, now: now)
            keepEnvironment(of: job, in: batch, result)
            if ruling.pausesCredential {
                noteFault(of: batch.route.credential, ruling.reason)
            }
        }
    }

    /// What the answer says of the address, for the chores to record. That it works is news of a suspect one only.
    private func keepEvidence(
        _ ruling: Verdict.Ruling, of job: PushJob, in batch: HeldBatch, _ result: SendResult,
        now: ContinuousClock.Instant
    ) {
        guard let kind = ruling.evidence, let recipient = job.recipient else { return }
        guard kind != .sound || recipient.state == .suspect else { return }
        let began = result.latency.map { databaseClock.instant(at: now - $0) }
        evidence[batch.claimed.shard, default: []].append(
            AddressAnswer(
                subscriber: job.subscriber, addressVersion: recipient.addressVersion, evidence: kind,
                reason: ruling.reason, status: result.status, goneSince: ruling.goneSince ?? began,
                run: batch.claimed.run, credential: batch.route.credential.id))
    }

    private func keepEnvironment(of job: PushJob, in batch: HeldBatch, _ result: SendResult) {
        guard let environment = result.environment, let recipient = job.recipient else { return }
        environments[batch.claimed.shard, default: []].append(
            ProvenEnvironment(
                subscriber: job.subscriber, addressVersion: recipient.addressVersion, environment: environment))
    }

    private func item(
        for job: PushJob, of batch: HeldBatch, _ result: SendResult, _ ruling: Verdict.Ruling,
        now: ContinuousClock.Instant
    ) -> Flush.Item {
        let latency = result.latency.map { Int32(clamping: $0.microseconds / 1000) }
        var item = Flush.Item(
            batch: batch.claimed.id, ordinal: job.ordinal, number: job.number, subscriber: job.subscriber,
            outcome: ruling.outcome, status: result.status, reason: ruling.reason,
            attempts: job.attempts + (ruling.charged ? 1 : 0), mayHaveLeft: ruling.mayHaveLeft,
            free: !ruling.charged, addressVersion: job.recipient?.addressVersion,
            providerID: ruling.providerID, language: result.language, expiresAt: job.expiresAt,
            contentVersion: job.contentVersion, latencyMilliseconds: latency)
        item.begunAt = result.latency.map { now - $0 }
        item.evidence = ruling.evidence
        item.firstAttemptAt = job.firstAttemptAt
        item.asked = job.recipient?.language
        if ruling.outcome == nil, !ruling.pausesCredential { schedule(&item, job, of: batch, ruling, now: now) }
        return item
    }

    /// When it is tried again, or that it is not. What may have left is looked at by the flush: it ends as in_doubt.
    private func schedule(
        _ item: inout Flush.Item, _ job: PushJob, of batch: HeldBatch, _ ruling: Verdict.Ruling,
        now: ContinuousClock.Instant
    ) {
        let terms = batch.claimed.terms
        let rule = RetryRule(
            base: batch.route.backoff, maxAttempts: terms.maxAttempts, horizon: terms.retryHorizon)
        let instant = databaseClock.instant(at: now)
        let decision = rule.decide(
            attempts: Int(item.attempts), firstAttemptAt: job.firstAttemptAt ?? instant, now: instant,
            expiresAt: job.expiresAt ?? batch.claimed.expiresAt, retryAfter: ruling.wait, isCharged: ruling.charged,
            draw: draw())
        switch decision {
        case .again(let wait): item.wait = wait
        case .expired: item.outcome = .expired
        case .exhausted:
            item.outcome = .failed
            item.reason = .retriesExhausted
        }
    }
}
