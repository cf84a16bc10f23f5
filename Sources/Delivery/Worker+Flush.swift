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
            await pauseFaultyCredentials()
            for shard in shards.keys.sorted() { await flush(shard) }
            await giveBackWhatIsStuck()
            pump()
            if isDraining { await drain() }
        }
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
        let named =
            batches.map {
                Flush.Held(
                    batch: $0.claimed.id, epoch: $0.claimed.epoch, announce: Int32($0.wantedAnnouncement))
            }
            + opening.values.filter { $0.shard == shard }.map {
                Flush.Held(batch: $0.id, epoch: $0.epoch, announce: Int32($0.announced))
            }
        let flush = Flush(
            shard: shard, answeredClaims: answered, checkedClaims: state.checkedClaims, held: named, items: items)
        let asked = clock.now
        shards[shard]?.flushedAt = asked
        do {
            let states = try await store.flush(flush, worker: identity, lease: configuration.lease)
            shards[shard]?.freshSince = asked
            shards[shard]?.noteChecked(answered, longestStatement: .seconds(30), now: asked)
            take(states, named: Set(named.map(\.batch)), of: batches, recorded: counts)
        } catch {
            logger.warning("flush failed", metadata: ["error": "\(error)", "unrecorded": "\(items.count)"])
        }
    }

    private func take(
        _ states: [Flush.State], named: Set<Batch.ID>, of batches: [HeldBatch], recorded: [UInt32: Int]
    ) {
        let answers = Dictionary(states.map { ($0.batch, $0) }) { first, _ in first }
        for (id, _) in opening where named.contains(id) && answers[id] == nil { opening[id] = nil }
        for batch in batches {
            guard let answer = answers[batch.claimed.id] else {
                // Rescued meanwhile, or closed by an earlier flush whose reply was lost.
                remove(batch)
                continue
            }
            batch.unrecorded.removeFirst(recorded[batch.number] ?? 0)
            batch.noteAnnounced(Int(answer.announced))
            batch.isLive = answer.run == .running && answer.route == .open
            if answer.state == .done { remove(batch) }
        }
        claimWanted.signal()
    }

    /// Paused, cancelled, or nothing of it can be begun: what was answered is recorded, the rest is somebody else's.
    private func giveBackWhatIsStuck() async {
        let now = clock.now
        for batch in order.compactMap({ held[$0] }) where batch.inFlight == 0 && batch.unrecorded.isEmpty {
            let isFresh = shards[batch.claimed.shard]?.freshSince.map { $0 + configuration.freshness > now } ?? false
            guard isFresh else { continue }
            if !batch.isLive {
                // First out of hand: nothing of it may be begun while the call, which says that nothing was, is under way.
                remove(batch)
                await giveBack(batch.claimed, begun: 0, notBefore: nil)
            } else if batch.waiting > 0, batch.movedAt + configuration.patience < now {
                logger.info("nothing could be begun", metadata: ["route": "\(batch.route.id)"])
                remove(batch)
                await giveBack(batch.claimed, begun: 0, notBefore: .seconds(2))
            }
        }
    }

    private func pauseFaultyCredentials() async {
        for (credential, reason) in faultyCredentials {
            do {
                try await store.pause(credential: credential, reason: reason)
                logger.error(
                    "credential paused", metadata: ["credential": "\(credential)", "reason": "\(reason.name)"])
                faultyCredentials[credential] = nil
            } catch {
                logger.warning("credential not paused yet", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Hands a batch back. Should the call fail, the lease, which other batches keep alive, does not run out: the next
    /// flushes find the batch under the worker's name, unknown to it, and give it back.
    func giveBack(_ batch: ClaimedBatch, begun: Int, notBefore: Duration?) async {
        opening[batch.id] = nil
        do {
            try await store.handBack(batch, begun: begun, notBefore: notBefore, worker: identity)
        } catch {
            shards[batch.shard]?.noteNotHandedBack(at: clock.now)
            logger.warning("batch not handed back", metadata: ["batch": "\(batch.id)", "error": "\(error)"])
        }
    }
}
