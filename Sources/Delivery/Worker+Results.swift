import Domain
import ServiceLifecycle
import Threading
import Logging

extension Worker {
    /// Takes results as they arrive and begins what they made room for.
    func resultLoop() async {
        while phase != .over {
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
        let unrecorded = held.values.reduce(0) { $0 + $1.unrecorded.count }
        if unrecorded >= configuration.flushSize { flushWanted.signal() }
    }

    private func take(_ result: SendResult, now: ContinuousClock.Instant) {
        // A batch that was lost or given back: its next holder knows what to do with the job.
        guard let batch = held[result.ticket.batch], let job = batch.job(result.ticket.ordinal) else { return }
        switch Verdict(result) {
        case .beginAgain:
            batch.noteReturned(job)
        case .record(let ruling):
            batch.noteAnswered()
            batch.movedAt = now
            batch.unrecorded.append(item(for: job, of: batch, result, ruling, now: now))
            if ruling.pausesCredential { faultyCredentials[batch.route.credential.id] = ruling.reason }
        }
    }

    private func item(
        for job: PushJob, of batch: HeldBatch, _ result: SendResult, _ ruling: Verdict.Ruling,
        now: ContinuousClock.Instant
    ) -> Flush.Item {
        let latency = result.latency.map { Int32(clamping: $0.microseconds / 1000) }
        return Flush.Item(
            batch: batch.claimed.id, ordinal: job.ordinal, number: job.number, subscriber: job.subscriber,
            outcome: ruling.outcome, status: result.status, reason: ruling.reason,
            attempts: job.attempts + (ruling.charged ? 1 : 0), mayHaveLeft: ruling.mayHaveLeft,
            waitSeconds: ruling.wait.map { Int32(clamping: ($0.microseconds + 999_999) / 1_000_000) } ?? 0,
            free: ruling.pausesCredential, addressVersion: job.recipient?.addressVersion,
            providerID: ruling.providerID, language: result.language, expiresAt: job.expiresAt,
            contentVersion: job.contentVersion,
            begunMillisecondsAgo: latency, latencyMilliseconds: latency)
    }
}
