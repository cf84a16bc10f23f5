import Domain
import Logging
import ServiceLifecycle
import Threading

extension Worker {
    /// Keeps enough jobs read ahead that neither the database nor the network waits for the other. The jobs of one batch
    /// are read while the next is claimed: a claim lasts as long as the database needs to make it durable.
    func claimLoop() async {
        await withDiscardingTaskGroup { reads in
            var misses = 0
            while !isDraining {
                guard hasRoom else {
                    await claimWanted.wait(until: clock.now + .seconds(1))
                    continue
                }
                do {
                    if let claimed = try await claimFromAnyShard() {
                        misses = 0
                        reads.addTask { await self.read(claimed) }
                        guard failedReads > 0 else { continue }
                        // What cannot be read goes back: no reason to claim all there is, only to hand it back.
                        misses = failedReads
                    } else {
                        misses += 1
                    }
                } catch {
                    misses += 1
                    logger.warning("claim failed", metadata: ["error": "\(error)"])
                }
                await claimRest.wait(until: clock.now + idleWait(misses))
            }
        }
    }

    private var hasRoom: Bool {
        // Beside a suspect batch nothing else is sent, nor another one held.
        if suspect != nil || opening.values.contains(where: \.claimed.isSuspect) { return false }
        // While the database records more slowly than providers answer, outcomes wait here: more claims would only add to
        // them, and make each flush dearer.
        guard unrecorded < 2 * configuration.largestFlush else { return false }
        let coming = opening.values.reduce(0) { $0 + $1.claimed.size }
        return waiting + coming < configuration.mostWaiting && held.count + opening.count < configuration.mostBatches
    }

    /// Routes of which enough is read ahead. Each for itself: one whose provider answers slowly keeps no other waiting.
    var fullRoutes: Set<Route.ID> {
        var jobs: [Route.ID: Int] = [:]
        var batches: [Route.ID: Int] = [:]
        for batch in held.values where batch.isLive && !batch.isPaced {
            jobs[batch.route.id, default: 0] += batch.waiting
            if !batch.claimed.isCollected { batches[batch.route.id, default: 0] += 1 }
        }
        for batch in opening.values { jobs[batch.claimed.route, default: 0] += batch.claimed.size }
        let mostBatches = configuration.mostBatches / 4
        return Set(
            jobs.filter { $0.value >= configuration.prefetch || batches[$0.key, default: 0] >= mostBatches }.keys)
    }

    /// Ends the rest after a look that found nothing, once there is room for a route that it left out.
    func resumeClaims() {
        if waiting < configuration.mostWaiting { claimWanted.signal() }
        guard !leftOut.isEmpty, !leftOut.isSubset(of: fullRoutes) else { return }
        leftOut = []
        claimRest.signal()
    }

    /// Short after work was found, so that a run that is being expanded is followed closely; longer when idle.
    private func idleWait(_ misses: Int) -> Duration {
        min(configuration.idle, .milliseconds(10) * (1 << min(misses, 5)))
    }

    /// Looks through the shards, the transactional lane first, for one batch.
    private func claimFromAnyShard() async throws -> ClaimedBatch? {
        leftOut = fullRoutes
        for shard in shards.keys.sorted() where hasRoom && !isDraining {
            try await readHeads(of: shard)
            for lane in [Lane.transactional, .campaign] {
                let sated = sated
                guard let pairs = shards[shard]?.heads[lane]?.filter({ !sated.contains($0) }), !pairs.isEmpty else {
                    continue
                }
                guard let claimed = try await claim(in: shard, naming: pairs) else { continue }
                leftOut = []
                return claimed
            }
        }
        return nil
    }

    /// Which pairs to name, read anew once a second, and more often while the known ones have nothing.
    private func readHeads(of shard: Shard) async throws {
        let sated = sated
        let known = shards[shard]?.heads.values.contains { $0.contains { !sated.contains($0) } } ?? false
        // With enough read ahead of some there is no hurry to find others.
        let left = leftOut
        let age = known ? Duration.seconds(1) : left.isEmpty ? .milliseconds(100) : configuration.idle
        if let readAt = shards[shard]?.headsReadAt, readAt + age > clock.now { return }
        for lane in Lane.allCases {
            // First read, then assigned: written as one, the access to `shards` begins before the await and lasts
            // through it, while other loops of this actor change it.
            let heads = try await store.heads(of: shard, lane: lane, without: sated)
            // What was left out is named again the moment there is room for it, without another look.
            let kept = shards[shard]?.heads[lane]?.filter { left.contains($0.route) && !heads.contains($0) } ?? []
            shards[shard]?.heads[lane] = heads + kept
        }
        shards[shard]?.headsReadAt = clock.now
    }

    private func claim(in shard: Shard, naming pairs: [Pair]) async throws -> ClaimedBatch? {
        guard let number = shards[shard]?.nextClaimNumber() else { return nil }
        let claimed: ClaimedBatch?
        let asked = clock.now
        do {
            claimed = try await store.claim(shard: shard, worker: identity, claimNumber: number, pairs: pairs)
        } catch {
            // Its answer, should it still come, is not used; a pulse gives back what it may have taken.
            shards[shard]?.noteGivenUp(number, at: clock.now)
            throw error
        }
        metrics.claimed(lane: claimed?.terms.lane ?? .campaign, jobs: claimed?.size ?? 0, took: clock.now - asked)
        guard let claimed else {
            shards[shard]?.noteAnswered(number)
            shards[shard]?.headsReadAt = nil
            return nil
        }
        // Known from here on: a flush that runs while its jobs are read must not take it for a stranger.
        opening[claimed.id] = OpeningBatch(claimed: claimed, confirmedAt: asked)
        shards[shard]?.noteAnswered(number)
        return claimed
    }

    private func read(_ claimed: ClaimedBatch) async {
        do {
            let collected = claimed.isCollected ? try await lane?.contentVersions(of: claimed) : nil
            try await open(claimed, saying: collected ?? [claimed.contentVersion])
            failedReads = 0
        } catch {
            failedReads += 1
            logger.warning("batch not opened", metadata: ["batch": "\(claimed.id)", "error": "\(error)"])
            await giveBack(claimed, begun: 0, notBefore: .seconds(2))
        }
    }
}

extension Worker.ShardState {
    func nextClaimNumber() -> Int32 {
        claimNumber += 1
        unanswered.insert(claimNumber)
        return claimNumber
    }

    func noteAnswered(_ number: Int32) { unanswered.remove(number) }

    /// Every claim up to this one was answered or given up.
    var answeredClaims: Int32 { (unanswered.min() ?? claimNumber + 1) - 1 }

    func noteGivenUp(_ number: Int32, at now: ContinuousClock.Instant) {
        noteAnswered(number)
        givenUp.append((number, now))
    }

    /// Up to which claim an answered pulse has looked for batches that this worker does not know: none later than a claim
    /// that was given up so recently that its statement may still run in the database.
    func noteChecked(_ answered: Int32, longestStatement: Duration, now: ContinuousClock.Instant) {
        givenUp.removeAll { $0.at + longestStatement < now }
        checkedClaims = min(answered, givenUp.map { $0.number - 1 }.min() ?? answered)
    }
}
