import Domain

/// A batch whose holder died twice is suspect: one of its jobs may be what kills. It is sent alone, one job at a time, so
/// that a third death speaks against that job and no other. From the moment that an ordinal is announced until its
/// outcome is recorded nothing else is begun in this process; campaigns go back to the others meanwhile, and single
/// notifications go in the gaps.
extension Worker {
    /// The first that is held. No other is claimed beside it.
    var suspect: HeldBatch? {
        for number in order { if let batch = held[number], batch.isSuspect { return batch } }
        return nil
    }

    /// How long single notifications go first, at most, before a suspect batch has a turn.
    private static let turn = Duration.seconds(1)

    func mayBegin(_ batch: HeldBatch, beside suspect: HeldBatch, now: ContinuousClock.Instant) -> Bool {
        if batch === suspect { return inFlight == suspect.inFlight }
        guard batch.claimed.terms.lane == .transactional, !batch.isSuspect else { return false }
        return !suspect.isExposed && !isTurn(of: suspect, now: now)
    }

    /// How far the next flush should announce.
    func wantedAnnouncement(of batch: HeldBatch, now: ContinuousClock.Instant) -> Int {
        guard batch.isSuspect else { return batch.wantedAnnouncement }
        guard batch === suspect, batch.isLive, inFlight == 0,
            isTurn(of: batch, now: now) || !isLaneWaiting(beside: batch)
        else {
            return batch.announced
        }
        return batch.wantedAnnouncement
    }

    /// Its last outcome waits to be recorded, or its next job to be announced: without waiting for the pulse, or a batch of
    /// hundreds would take minutes.
    func isFlushWanted(by suspect: HeldBatch, now: ContinuousClock.Instant) -> Bool {
        if suspect.inFlight > 0 { return false }
        return !suspect.unrecorded.isEmpty || wantedAnnouncement(of: suspect, now: now) > suspect.asked
    }

    private func isTurn(of suspect: HeldBatch, now: ContinuousClock.Instant) -> Bool {
        suspect.movedAt + Self.turn < now
    }

    private func isLaneWaiting(beside suspect: HeldBatch) -> Bool {
        held.values.contains {
            $0 !== suspect && $0.claimed.terms.lane == .transactional && $0.isLive && !$0.isPaced && $0.waiting > 0
        }
    }
}
