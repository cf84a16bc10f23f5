import Domain
import Logging
import ServiceLifecycle
import Threading

extension Worker {
    /// The slots of one run on one route, and when more may be asked for.
    struct Pace {
        var ledger = SlotLedger()
        var askAgainAt: ContinuousClock.Instant
        /// Answers in a row that gave none.
        var refusals = 0
    }

    /// Slots are taken no further ahead than this, so that what holds a second later also binds who took them.
    static let slotReach = Duration.milliseconds(250)
    /// More are taken when those that are held end sooner than this.
    static let slotReserve = Duration.milliseconds(120)

    /// Takes slots for held batches under a rate. A loop of its own: a slow statement must not keep due slots waiting.
    func slotLoop() async {
        while phase != .over {
            await syncClock()
            let wanting = wantingPairs
            for (pair, wanted) in wanting { await takeSlots(for: pair, wanted: wanted) }
            let rest = Set(held.values.filter { $0.isPaced }.map { $0.pair })
            paces = paces.filter { rest.contains($0.key) }
            await slotsWanted.wait(until: clock.now + (rest.isEmpty ? .seconds(1) : .milliseconds(50)))
        }
    }

    /// Begins jobs as their slots come due.
    func paceLoop() async {
        while phase != .over {
            let now = databaseClock.instant(at: clock.now)
            for pair in paces.keys { paces[pair]?.ledger.drop(at: now, margin: clockMargin) }
            let next = paces.values.compactMap { $0.ledger.nextDue(margin: clockMargin) }.min()
            let moment = next.map { max(databaseClock.moment(of: $0), clock.now + .milliseconds(3)) }
            await paceWanted.wait(until: moment ?? clock.now + .seconds(1))
            if next != nil { pump(lookingForWork: false) }
        }
    }

    /// Pairs whose held jobs lack slots, the transactional lane first, then in the order of their claims, which is the
    /// order that fairness gave them.
    private var wantingPairs: [(Pair, Int)] {
        guard phase == .working else { return [] }
        var waiting: [Pair: Int] = [:]
        var pairs: [Pair] = []
        for batch in order.compactMap({ held[$0] }) where batch.isPaced && batch.isLive && batch.waiting > 0 {
            if waiting[batch.pair] == nil {
                pairs.insert(batch.pair, at: batch.claimed.terms.lane == .transactional ? 0 : pairs.endIndex)
            }
            waiting[batch.pair, default: 0] += batch.waiting
        }
        let now = databaseClock.instant(at: clock.now)
        return pairs.compactMap { pair in
            var pace = paces[pair] ?? Pace(askAgainAt: clock.now)
            let left = pace.ledger.left(at: now, margin: clockMargin)
            paces[pair] = pace
            if pace.askAgainAt > clock.now { return nil }
            if left > 0, let reach = pace.ledger.reach, reach - now > Self.slotReserve { return nil }
            let wanted = (waiting[pair] ?? 0) - left
            return wanted > 0 ? (pair, wanted) : nil
        }
    }

    private func takeSlots(for pair: Pair, wanted: Int) async {
        do {
            switch try await store.takeSlots(for: pair, wanted: wanted, ahead: Self.slotReach) {
            case .unlimited:
                paces[pair] = nil
                for batch in held.values where batch.pair == pair { batch.isPaced = false }
                pump()
            case .slots(let slots):
                metrics.paced(slots: slots.reduce(0) { $0 + $1.count })
                guard var pace = paces[pair] else { return }
                pace.ledger.add(slots)
                pace.refusals = slots.isEmpty ? min(pace.refusals + 1, 3) : 0
                pace.askAgainAt = clock.now + .milliseconds(50) * (1 << pace.refusals)
                paces[pair] = pace
                paceWanted.signal()
            }
        } catch {
            paces[pair]?.askAgainAt = clock.now + .milliseconds(250)
            logger.warning("no slots taken", metadata: ["error": "\(error)"])
        }
    }

    func hasDueSlots(for batch: HeldBatch, now: ContinuousClock.Instant) -> Bool {
        guard let pace = paces[batch.pair] else {
            slotsWanted.signal()
            return false
        }
        return pace.ledger.nextDue(margin: clockMargin).map { $0 <= databaseClock.instant(at: now) } ?? false
    }

    /// Begins what slots are due for, of one batch. Returns how many jobs left.
    func beginPaced(
        _ batch: HeldBatch, atMost room: Int, gate: ContinuousClock.Instant, now: ContinuousClock.Instant
    ) -> Int {
        guard batch.waiting > 0, var pace = paces[batch.pair] else { return 0 }
        let due = pace.ledger.take(
            atMost: min(room, batch.beginnable), at: databaseClock.instant(at: now), margin: clockMargin)
        paces[batch.pair] = pace
        guard let due else { return 0 }
        let end = min(gate, databaseClock.moment(of: due.endsAt))
        return beginChunk(of: batch, atMost: due.count, gate: end, now: now)
    }

    /// What this process does not know of the database's clock, and some time to leave in.
    var clockMargin: Duration { min(databaseClock.uncertainty + .milliseconds(1), RateSlots.life / 4) }

    /// Reads the database's clock again: a better reading wins, an old one gives way.
    private func syncClock() async {
        let age = clock.now - databaseClock.readAt
        guard age > .seconds(10) || (databaseClock.uncertainty > .milliseconds(3) && age > .seconds(1)) else { return }
        let asked = clock.now
        do {
            let reading = DatabaseClock(reading: try await store.now(), askedAt: asked, takenAt: clock.now)
            if age > .seconds(60) || reading.uncertainty <= databaseClock.uncertainty * 2 { databaseClock = reading }
        } catch {
            logger.debug("the database's clock was not read", metadata: ["error": "\(error)"])
        }
    }

    /// What it holds as much of as it can begin soon: claims name others.
    var sated: Sated {
        var sated = Sated()
        sated.routes = fullRoutes
        var runs: [Run.ID: Int] = [:]
        var routes: [Route.ID: Int] = [:]
        var apps: [App.ID: Int] = [:]
        for batch in held.values where batch.isPaced && batch.waiting > 0 {
            runs[batch.claimed.run, default: 0] += batch.waiting
            routes[batch.claimed.route, default: 0] += batch.waiting
            apps[batch.route.app, default: 0] += batch.waiting
        }
        for batch in held.values where batch.isPaced {
            let terms = batch.claimed.terms
            if let rate = terms.runRate, runs[batch.claimed.run, default: 0] >= rate {
                sated.runs.insert(batch.claimed.run)
            }
            // Slowed down since it was claimed, by nobody knows how much: one batch is enough.
            let isFull = terms.routeRate.map { routes[batch.claimed.route, default: 0] >= $0 } ?? !terms.isPaced
            let isAppFull = terms.appRate.map { apps[batch.route.app, default: 0] >= $0 } ?? false
            if isFull || isAppFull { sated.routes.insert(batch.claimed.route) }
        }
        // What the fleet does not know yet would be claimed, and held until it does.
        for batch in held.values where isTripUntold(of: batch.route.id) || isFaulty(batch.route.credential) {
            sated.routes.insert(batch.route.id)
        }
        return sated
    }
}
