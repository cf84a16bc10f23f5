import Domain
import Logging
import ServiceLifecycle
import Threading

extension Worker {
    /// Collects single notifications. A few workers have the duty of looking every few milliseconds, so that a fleet of
    /// hundreds costs the database no more than a small one; the others look now and then, should those be busy or gone.
    func collectLoop(_ lane: any LaneStore) async {
        var dutyAskedAt: ContinuousClock.Instant?
        var slot: Int16?
        var foundAt: ContinuousClock.Instant?
        while !isDraining {
            var found = false
            do {
                if dutyAskedAt.map({ $0 + .seconds(1) <= clock.now }) ?? true {
                    dutyAskedAt = clock.now
                    slot = try await lane.takeDuty(identity, for: .seconds(3))
                }
                for shard in shards.keys.sorted() where laneHasRoom && !isDraining {
                    if try await lane.hasDue(in: shard), try await collect(from: shard, of: lane) { found = true }
                }
            } catch {
                slot = nil
                logger.warning("collect failed", metadata: ["error": "\(error)"])
                await collectWanted.wait(until: clock.now + configuration.collectOffDuty)
            }
            if found {
                foundAt = clock.now
            } else {
                await collectWanted.wait(until: clock.now + collectWait(slot: slot, foundAt: foundAt))
            }
        }
    }

    /// Most often by the first slot alone: two that look as often find the same and take it one after the other, the
    /// second in vain.
    private func collectWait(slot: Int16?, foundAt: ContinuousClock.Instant?) -> Duration {
        guard let slot else { return configuration.collectOffDuty }
        let isWarm = foundAt.map { $0 + configuration.collectWarmth > clock.now } ?? false
        return slot == 1 && isWarm ? configuration.collectWarm : configuration.collectOnDuty
    }

    private var laneHasRoom: Bool {
        let held = held.values.reduce(0) { $0 + ($1.claimed.isCollected ? $1.waiting + $1.inFlight : 0) }
        return held < configuration.laneBudget
    }

    private func collect(from shard: Shard, of lane: any LaneStore) async throws -> Bool {
        guard let number = shards[shard]?.nextClaimNumber() else { return false }
        let asked = clock.now
        let collected: [CollectedBatch]
        do {
            collected = try await lane.collect(
                shard: shard, worker: identity, claimNumber: number, limit: configuration.collectLimit)
        } catch {
            shards[shard]?.noteGivenUp(number, at: clock.now)
            throw error
        }
        metrics.claimed(
            lane: .transactional, jobs: collected.reduce(0) { $0 + $1.batch.size }, took: clock.now - asked)
        for one in collected { opening[one.batch.id] = OpeningBatch(claimed: one.batch, confirmedAt: asked) }
        shards[shard]?.noteAnswered(number)
        for one in collected {
            do {
                try await open(one.batch, saying: one.contentVersions)
            } catch {
                logger.warning("batch not opened", metadata: ["batch": "\(one.batch.id)", "error": "\(error)"])
                await giveBack(one.batch, begun: 0, notBefore: .seconds(2))
            }
        }
        return !collected.isEmpty
    }
}
