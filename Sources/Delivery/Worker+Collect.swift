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
        // In a row. One alone may have waited for a core; then whoever waits for it must not wait longer still.
        var dearLooks = 0
        while !isDraining {
            var found = false
            let lookedAt = clock.now
            do {
                if dutyAskedAt.map({ $0 + .seconds(1) <= clock.now }) ?? true {
                    dutyAskedAt = clock.now
                    slot = try await lane.takeDuty(identity, for: .seconds(3))
                }
                for shard in shards.keys.sorted() where !isDraining {
                    let load = laneLoad
                    guard load.jobs < configuration.laneMost else { break }
                    guard try await lane.hasDue(in: shard, without: load.sated) else { continue }
                    if try await collect(from: shard, of: lane, without: load.sated) { found = true }
                }
            } catch {
                slot = nil
                logger.warning("collect failed", metadata: ["error": "\(error)"])
                await collectWanted.wait(until: clock.now + configuration.collectOffDuty)
            }
            let took = clock.now - lookedAt
            dearLooks = found || took < .milliseconds(20) ? 0 : dearLooks + 1
            if found {
                foundAt = clock.now
            } else {
                let wait = collectWait(slot: slot, foundAt: foundAt, dear: dearLooks < 10 ? .zero : took)
                await collectWanted.wait(until: clock.now + wait)
            }
        }
    }

    /// Most often by the first slot alone: two that look as often find the same and take it one after the other, the
    /// second in vain.
    /// - Parameter dear: what a look takes while all are dear, as those past thousands of runs that wait: they get a fifth
    ///   of the time at most.
    private func collectWait(slot: Int16?, foundAt: ContinuousClock.Instant?, dear: Duration) -> Duration {
        guard let slot else { return configuration.collectOffDuty }
        guard dear == .zero else { return min(dear * 4, configuration.collectOffDuty) }
        let isWarm = foundAt.map { $0 + configuration.collectWarmth > clock.now } ?? false
        return slot == 1 && isWarm ? configuration.collectWarm : configuration.collectOnDuty
    }

    /// What is held of single notifications, and the runs of which that is enough: one app's that wait for its rate, or for
    /// a slow provider, keep no other's waiting.
    private var laneLoad: (jobs: Int, sated: Set<Run.ID>) {
        /// Of one run: without a rate or begun, waiting under one, and the rate.
        typealias Load = (free: Int, paced: Int, rate: Int)
        var loads: [Run.ID: Load] = [:]
        for batch in held.values where batch.claimed.isCollected {
            var load = loads[batch.claimed.run] ?? (free: 0, paced: 0, rate: configuration.laneBudget)
            load.free += batch.inFlight + (batch.isPaced ? 0 : batch.waiting)
            if batch.isPaced, batch.waiting > 0 {
                load.paced += batch.waiting
                let terms = batch.claimed.terms
                // Slowed down since it was collected, by nobody knows how much: one batch is enough.
                load.rate = min(load.rate, terms.routeRate ?? terms.appRate ?? 1, terms.appRate ?? .max)
            }
            loads[batch.claimed.run] = load
        }
        let sated = loads.filter { $0.value.free >= configuration.laneBudget || $0.value.paced >= $0.value.rate }
        let jobs = loads.values.reduce(0) { $0 + $1.free + min($1.paced, $1.rate) }
        return (jobs, Set(sated.keys))
    }

    private func collect(
        from shard: Shard, of lane: any LaneStore, without sated: Set<Run.ID>
    ) async throws -> Bool {
        guard let number = shards[shard]?.nextClaimNumber() else { return false }
        let asked = clock.now
        let collected: [CollectedBatch]
        do {
            collected = try await lane.collect(
                shard: shard, worker: identity, claimNumber: number, limit: configuration.collectLimit,
                without: sated)
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
