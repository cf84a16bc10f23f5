import Domain
import Logging
import Threading

/// What must reach the database, as often as it takes, and for which no heartbeat waits.
struct Chores {
    /// A batch on its way back. It is named in every flush until the database has it.
    struct Returning {
        let batch: ClaimedBatch
        let begun: Int
        let notBefore: Duration?
    }
}

extension Worker {
    func choreLoop() async {
        // Once cancelled, waits return at once: the rest is done on leaving.
        while phase != .over, !Task.isCancelled {
            await choresWanted.wait(until: clock.now + .milliseconds(250))
            await doChores()
            if isDraining { flushWanted.signal() }
        }
    }

    /// One pass. What failed stays for the next, and so does what comes after it: the database is not to be had.
    func doChores() async {
        for one in returning.values {
            guard await handBack(one) else { return }
        }
        for shard in evidence.keys.sorted() {
            guard await weighEvidence(of: shard) else { return }
        }
        for shard in environments.keys.sorted() {
            guard await correctEnvironments(of: shard) else { return }
        }
        await pauseRefusedRuns()
    }

    /// Hands a batch back now; should the call fail, again with the chores.
    func giveBack(_ batch: ClaimedBatch, begun: Int, notBefore: Duration?) async {
        giveBackSoon(batch, begun: begun, notBefore: notBefore)
        if let one = returning[batch.id] { _ = await handBack(one) }
    }

    /// Hands a batch back with the next chores.
    func giveBackSoon(_ batch: ClaimedBatch, begun: Int, notBefore: Duration?) {
        if opening[batch.id]?.claimed.epoch == batch.epoch { opening[batch.id] = nil }
        returning[batch.id] = Chores.Returning(batch: batch, begun: begun, notBefore: notBefore)
        choresWanted.signal()
    }

    private func handBack(_ one: Chores.Returning) async -> Bool {
        do {
            try await store.handBack(one.batch, begun: one.begun, notBefore: one.notBefore, worker: identity)
        } catch {
            logger.warning(
                "batch not handed back yet", metadata: ["batch": "\(one.batch.id)", "error": "\(error)"])
            return false
        }
        // Since then it may have been claimed here again, and be on its way back once more.
        if returning[one.batch.id]?.batch.epoch == one.batch.epoch { returning[one.batch.id] = nil }
        return true
    }

    private func weighEvidence(of shard: Shard) async -> Bool {
        guard let answers = evidence.removeValue(forKey: shard), !answers.isEmpty else { return true }
        do {
            try await store.weigh(answers, in: shard)
            return true
        } catch {
            logger.warning(
                "evidence not recorded yet", metadata: ["answers": "\(answers.count)", "error": "\(error)"])
            // Beyond the bound the next answer of the same kind will do as well.
            evidence[shard] = Array((answers + evidence[shard, default: []]).prefix(configuration.mostEvidence))
            return false
        }
    }

    private func correctEnvironments(of shard: Shard) async -> Bool {
        guard let proven = environments.removeValue(forKey: shard), !proven.isEmpty else { return true }
        do {
            try await store.correctEnvironments(proven, in: shard)
            return true
        } catch {
            logger.warning(
                "environments not corrected yet", metadata: ["addresses": "\(proven.count)", "error": "\(error)"])
            environments[shard] = Array(
                (proven + environments[shard, default: []]).prefix(configuration.mostEvidence))
            return false
        }
    }
}
