import Domain
import Logging
import ServiceLifecycle
import Threading

extension Worker {
    /// Records outcomes as they gather, and beats the pulse when there are none. One flush at a time: the next gathers
    /// while this one is under way, so that batches grow by themselves under load.
    func flushLoop() async {
        while phase != .over {
            await flushWanted.wait(until: nextPulse)
            if let end = restEnd { await flushRest.wait(until: end) }
            for shard in shards.keys.sorted() { await flush(shard) }
            giveBackWhatIsStuck()
            pump()
            if isDraining { drain() }
        }
    }

    /// A flush costs the database half a millisecond before its first outcome: where a few come all the time, they gather
    /// first. Not while a job waits for its announcement, or for the process to end.
    private var restEnd: ContinuousClock.Instant? {
        guard !isDraining, let latest = shards.values.compactMap(\.flushedAt).max() else { return nil }
        let end = latest + configuration.flushRest
        let isHurried = held.values.contains { $0.isSuspect || $0.awaitsAnnouncement }
        return isHurried || end <= clock.now ? nil : end
    }

    private var nextPulse: ContinuousClock.Instant {
        let latest = shards.values.map { $0.flushedAt ?? clock.now - configuration.pulse }.min() ?? clock.now
        return latest + configuration.pulse
    }

    /// One flush of one shard. A flush that failed is repeated with the next: its outcomes stay unrecorded until a reply
    /// says so, and a repeat changes nothing.
    func flush(_ shard: Shard) async {
        takeResults()
        let batches = order.compactMap { held[$0] }.filter { $0.claimed.shard == shard }
        guard let state = shards[shard] else { return }
        var counts: [UInt32: Int] = [:]
        var items: [Flush.Item] = []
        for batch in batches where items.count < configuration.largestFlush {
            counts[batch.number] = batch.unrecorded.count
            items.append(contentsOf: batch.unrecorded)
        }
        let answered = state.answeredClaims
        let asked = clock.now
        // Anew at each repeat: it may come long after the answer.
        for index in items.indices {
            items[index].begunMillisecondsAgo = items[index].begunAt.map {
                Int32(clamping: (asked - $0).microseconds / 1000)
            }
        }
        let named =
            batches.map { batch in
                let announce = wantedAnnouncement(of: batch, now: asked)
                batch.noteAsked(announce)
                return Flush.Held(batch: batch.claimed.id, epoch: batch.claimed.epoch, announce: Int32(announce))
            }
            + opening.values.map(\.claimed).filter { $0.shard == shard }.map {
                Flush.Held(batch: $0.id, epoch: $0.epoch, announce: Int32($0.announced))
            }
        // On their way back they are no strangers: what may have left of them goes with the hand-back alone.
        let leaving = returning.values.map(\.batch).filter { $0.shard == shard }.map {
            Flush.Held(batch: $0.id, epoch: $0.epoch, announce: 0)
        }
        let flush = Flush(
            shard: shard, answeredClaims: answered, checkedClaims: state.checkedClaims, held: named + leaving,
            items: items)
        shards[shard]?.flushedAt = asked
        do {
            let states = try await store.flush(flush, worker: identity, lease: configuration.lease)
            metrics.flushed(items: items.count, took: clock.now - asked, failed: false)
            metrics.holds(inFlight: inFlight, waiting: waiting)
            noteFresh(shard, since: asked)
            shards[shard]?.noteChecked(answered, longestStatement: .seconds(30), now: asked)
            take(states, named: Set(named.map(\.batch)), of: batches, recorded: counts, asked: asked)
        } catch {
            metrics.flushed(items: items.count, took: clock.now - asked, failed: true)
            logger.warning("flush failed", metadata: ["error": "\(error)", "unrecorded": "\(items.count)"])
        }
    }

    private func take(
        _ states: [Flush.State], named: Set<Batch.ID>, of batches: [HeldBatch], recorded: [UInt32: Int],
        asked: ContinuousClock.Instant
    ) {
        let answers = Dictionary(states.map { ($0.batch, $0) }) { first, _ in first }
        for id in opening.keys where named.contains(id) {
            guard let answer = answers[id] else {
                opening[id] = nil
                continue
            }
            opening[id]?.confirmedAt = asked
            opening[id]?.isLive = answer.run == .running && answer.route == .open
        }
        for batch in batches {
            guard let answer = answers[batch.claimed.id] else {
                // Rescued meanwhile, or closed by an earlier flush whose reply was lost.
                metrics.lost(batches: 1)
                remove(batch)
                continue
            }
            batch.unrecorded.removeFirst(recorded[batch.number] ?? 0)
            batch.noteAnnounced(Int(answer.announced))
            batch.confirmedAt = asked
            if answer.route != .open { batch.close() }
            batch.isLive =
                answer.run == .running && answer.route == .open && routeFlows[batch.route.id]?.tripped == nil
            if answer.isPaced, !batch.isPaced { slotsWanted.signal() }
            batch.isPaced = answer.isPaced
            if answer.state == .done { remove(batch) }
        }
        claimWanted.signal()
    }

    private func noteFresh(_ shard: Shard, since asked: ContinuousClock.Instant) {
        let now = clock.now
        if shards[shard]?.freshSince.map({ $0 + configuration.freshness <= now }) ?? true {
            shards[shard]?.freshAgainAt = now
        }
        shards[shard]?.freshSince = asked
    }

    /// Paused, cancelled, or nothing of it can be begun: what was answered is recorded, the rest is somebody else's.
    private func giveBackWhatIsStuck() {
        let now = clock.now
        let isBesideSuspect = suspect != nil
        for batch in order.compactMap({ held[$0] }) where batch.isRecorded {
            guard let state = shards[batch.claimed.shard], let fresh = state.freshSince,
                fresh + configuration.freshness > now
            else { continue }
            // It would wait for longer than others who may take it.
            if isBesideSuspect, !batch.isSuspect, batch.claimed.terms.lane == .campaign {
                giveBackSoon(batch.claimed, begun: 0, notBefore: nil)
                remove(batch)
                continue
            }
            if !batch.isLive {
                if isTripUntold(of: batch.route.id) || isFaulty(batch.route.credential) { continue }
                giveBackSoon(batch.claimed, begun: 0, notBefore: suspension(of: batch.route.id))
                remove(batch)
            } else if batch.waiting > 0,
                // While no flush was answered nothing could move: that says nothing of its route.
                max(batch.movedAt, state.freshAgainAt ?? batch.movedAt) + configuration.patience < now
            {
                logger.info("nothing could be begun", metadata: ["route": "\(batch.route.id)"])
                giveBackSoon(batch.claimed, begun: 0, notBefore: .seconds(2))
                remove(batch)
            }
        }
    }
}
