import Domain
import Logging
import ServiceLifecycle
import Threading

extension Worker {
    /// SIGTERM: begins nothing more, records what is answered and hands back the rest, which costs no attempt. Past the
    /// limit, or at a second signal, what is unanswered goes back as doubtful.
    func drain() {
        if phase == .working {
            phase = .draining
            logger.info("draining", metadata: ["in_flight": "\(inFlight)", "batches": "\(held.count)"])
            drainUntil = clock.now + configuration.drainLimit
        }
        for batch in order.compactMap({ held[$0] }) where batch.isRecorded {
            giveBackSoon(batch.claimed, begun: 0, notBefore: nil)
            remove(batch)
        }
        if (held.isEmpty && returning.isEmpty) || Task.isCancelled || clock.now > drainUntil {
            phase = .over
            arrived.signal()
            choresWanted.signal()
            reportsWanted.signal()
            slotsWanted.signal()
            paceWanted.signal()
        } else if inFlight == 0 {
            flushWanted.signal()
        }
    }

    /// The end, soft or hard: whatever is still held goes back, with what may have left.
    func leave() async {
        // Shielded: cancellation must not lose the record of what already left.
        await Task {
            // A flush carries some thousands: as many as it takes, and one more where one came to nothing.
            var failures = 0
            repeat {
                let before = unrecorded
                for shard in shards.keys.sorted() { await flush(shard) }
                if unrecorded >= before { failures += 1 }
            } while unrecorded > 0 && failures < 2
            for batch in order.compactMap({ held[$0] }) {
                giveBackSoon(batch.claimed, begun: batch.isRecorded ? 0 : batch.begun, notBefore: nil)
                remove(batch)
            }
            for batch in opening.values { giveBackSoon(batch.claimed, begun: 0, notBefore: nil) }
            await doChores()
            // Again, should the first pass have met a connection that had just broken.
            if !returning.isEmpty { await doChores() }
            await transports.close(by: clock.now + .seconds(1))
        }.value
    }
}
