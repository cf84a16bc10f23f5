import Domain
import ServiceLifecycle
import Threading

extension Worker {
    /// Begins whatever may be begun: announced, live, fresh, and as much as the transports have room for.
    /// - Parameter lookingForWork: whether a claim may be worth while now.
    func pump(lookingForWork: Bool = true) {
        guard phase == .working, !isDraining else { return }
        let now = clock.now
        let suspect = suspect
        for lane in [Lane.transactional, .campaign] {
            for number in order {
                guard let batch = held[number], batch.claimed.terms.lane == lane else { continue }
                if let suspect, !mayBegin(batch, beside: suspect, now: now) { continue }
                begin(batch, now: now)
            }
        }
        if lookingForWork { resumeClaims() }
        // Done, or nothing more of it may be begun before its outcomes are recorded.
        if held.values.contains(where: {
            !$0.unrecorded.isEmpty && $0.inFlight == 0 && ($0.waiting == 0 || $0.awaitsAnnouncement)
        }) {
            flushWanted.signal()
        }
        if let suspect, isFlushWanted(by: suspect, now: now) { flushWanted.signal() }
    }

    private func begin(_ batch: HeldBatch, now: ContinuousClock.Instant) {
        guard batch.isLive, batch.waiting > 0, let fresh = shards[batch.claimed.shard]?.freshSince else { return }
        // A pulse answered before it was held said nothing of this batch: its claim may be older.
        let gate = min(fresh, batch.confirmedAt) + configuration.freshness
        guard gate > now, !batch.isPaced || hasDueSlots(for: batch, now: now) else { return }
        // Campaigns leave a part of what a transport can have in flight to the transactional lane.
        let capacity = batch.transport.capacity
        let kept = batch.claimed.terms.lane == .campaign ? capacity / max(1, configuration.laneShare) : 0
        var room = capacity * 5 / 4 - kept - inFlightOf(batch.transport)
        while room > 0 {
            let most = min(room, configuration.chunk)
            let begun =
                batch.isPaced
                ? beginPaced(batch, atMost: most, gate: gate, now: now)
                : beginChunk(of: batch, atMost: most, gate: gate, now: now)
            guard begun > 0 else { break }
            room -= begun
        }
    }

    private func inFlightOf(_ transport: any Transport) -> Int {
        held.values.reduce(0) { $0 + ($1.transport === transport ? $1.inFlight : 0) }
    }

    /// Returns how many jobs it took from the batch, sent or settled.
    func beginChunk(
        of batch: HeldBatch, atMost limit: Int, gate: ContinuousClock.Instant, now: ContinuousClock.Instant
    ) -> Int {
        let databaseNow = databaseClock.instant(at: now)
        var outgoing: [OutgoingJob] = []
        outgoing.reserveCapacity(limit)
        var taken = 0
        var saying: ContentVersion.ID?
        var delivery = DeliveryOptions()
        while outgoing.count < limit, let job = batch.take() {
            let version = batch.messages.version(of: job)
            // A collected batch says several things: one call to the transport says one.
            guard saying == nil || saying == version else {
                batch.putBack(job)
                break
            }
            taken += 1
            if let item = settledBeforeSending(job, of: batch, now: databaseNow) {
                batch.unrecorded.append(item)
                continue
            }
            guard let recipient = job.recipient else { continue }
            if saying == nil {
                saying = version
                delivery = batch.messages.delivery(version) ?? delivery
            }
            batch.noteBegun(job)
            outgoing.append(
                OutgoingJob(
                    ticket: Ticket(batch: batch.number, ordinal: job.ordinal),
                    identity: JobIdentity(run: batch.claimed.run, number: job.number),
                    address: recipient.address, language: recipient.language,
                    values: batch.messages.values(of: recipient, for: version),
                    remainingSeconds: delivery.keepSeconds(
                        remaining: (job.expiresAt ?? batch.claimed.expiresAt).seconds - databaseNow.seconds),
                    secondTry: batch.secondTries[job.ordinal]))
        }
        guard let saying, let message = batch.messages.message(saying) else { return taken }
        batch.movedAt = now
        noteBegun(outgoing.count, on: batch.route.id, now: now)
        checkpoints.reach(.beforeSend)
        if let begin = checkpoints.begin { for job in outgoing { begin(job.identity) } }
        batch.transport.send(outgoing, of: message, beginBefore: gate, to: sink)
        checkpoints.reach(.afterSend)
        return taken
    }

    /// What needs no request: erased, inactive, expired, moved to another route since expansion (late binding), or held
    /// back by a cap or quiet hours.
    private func settledBeforeSending(_ job: PushJob, of batch: HeldBatch, now: Instant) -> Flush.Item? {
        func item(_ outcome: Outcome?, _ reason: Reason) -> Flush.Item {
            var item = Flush.Item(
                batch: batch.claimed.id, ordinal: job.ordinal, number: job.number, subscriber: job.subscriber,
                outcome: outcome, reason: reason, attempts: job.attempts,
                addressVersion: job.recipient?.addressVersion, expiresAt: job.expiresAt,
                contentVersion: job.contentVersion)
            item.asked = job.recipient?.language
            return item
        }
        guard let recipient = job.recipient else { return item(.skipped, .erased) }
        guard batch.messages.message(batch.messages.version(of: job)) != nil else {
            return item(.failed, .contentInvalid)
        }
        if (job.expiresAt ?? batch.claimed.expiresAt) <= now { return item(.expired, .none) }
        switch recipient.state {
        case .active, .suspect: break
        case .unregistered, .wrongProject, .quarantined: return item(.skipped, .notActive)
        }
        guard recipient.transport == batch.route.transport, recipient.service == batch.route.service else {
            return moved(recipient, of: batch, item(nil, .none))
        }
        return batch.withheld[job.ordinal].map { withhold(item(.skipped, $0.reason), until: $0.wait) }
    }

    /// A subscriber that now has another way out leaves for the retry table, uncharged, and is cut again under it.
    private func moved(_ recipient: Recipient, of batch: HeldBatch, _ item: Flush.Item) -> Flush.Item {
        var item = item
        guard let route = batch.otherRoutes[RouteKey(transport: recipient.transport, service: recipient.service)] else {
            item.outcome = .skipped
            item.reason = .noRoute
            return item
        }
        item.route = route
        item.free = true
        return item
    }
}
