import Domain
import Logging
import Threading

extension Worker {
    /// What this worker knows of a route, and what it has yet to tell the fleet.
    struct RouteFlow {
        var health = RouteHealth()
        /// Requests begun in the current second and in the last.
        var begun = 0
        var begunBefore = 0
        var countedSince: ContinuousClock.Instant
        /// Its breaker is open, as far as this worker knows: nothing of it is begun, and what comes back stays with its
        /// batch.
        var tripped: Reason?
        var isTripTold = false
        /// Until when batches that go back wait.
        var reopensAt: ContinuousClock.Instant?
        /// Asked to send less: for how long.
        var slowFor: Duration?
        var trialWorked = false
    }

    /// A route that was just claimed for: it is open.
    func noteOpened(_ route: Route) {
        let known = routeFlows[route.id]
        guard known == nil || known?.tripped != nil || known?.health.isOnTrial != route.isOnTrial else { return }
        var flow = known ?? RouteFlow(countedSince: clock.now)
        flow.health = RouteHealth(isOnTrial: route.isOnTrial)
        flow.tripped = nil
        flow.isTripTold = false
        flow.reopensAt = nil
        flow.trialWorked = false
        routeFlows[route.id] = flow
    }

    func noteBegun(_ count: Int, on route: Route.ID, now: ContinuousClock.Instant) {
        guard var flow = routeFlows[route] else { return }
        let age = now - flow.countedSince
        if age >= .seconds(1) {
            flow.begunBefore = age >= .seconds(2) ? 0 : flow.begun
            flow.begun = 0
            flow.countedSince = now
        }
        flow.begun += count
        routeFlows[route] = flow
    }

    /// Takes in what a result says of its route.
    /// - Returns: whether the job stays with its batch, because the fault is the route's.
    func noteHealth(_ result: SendResult, _ verdict: Verdict, of batch: HeldBatch, now: ContinuousClock.Instant) -> Bool
    {
        guard var flow = routeFlows[batch.route.id] else { return false }
        if let sign = RouteHealth.Sign(result), flow.tripped == nil {
            if let reason = flow.health.note(sign, at: databaseClock.instant(at: now)) {
                flow.tripped = reason
                reportsWanted.signal()
            }
        }
        if case .record(let ruling) = verdict, ruling.slowsRoute {
            flow.slowFor = max(flow.slowFor ?? .zero, min(ruling.wait ?? .seconds(10), .seconds(900)))
            reportsWanted.signal()
        }
        routeFlows[batch.route.id] = flow
        guard flow.tripped != nil else { return false }
        suspendBatches(of: batch.route.id)
        guard case .record(let ruling) = verdict else { return false }
        return ruling.outcome == nil && !ruling.mayHaveLeft && !ruling.pausesCredential
    }

    private func suspendBatches(of route: Route.ID) {
        for batch in held.values where batch.route.id == route { batch.isLive = false }
    }

    /// Tells the fleet of routes and credentials: in a loop of its own, as others wait to hear it and no flush may wait
    /// for it. What failed is told again.
    func reportLoop() async {
        // Once cancelled, waits return at once, and what is not told by then is found out again by others.
        while phase != .over, !Task.isCancelled {
            await reportsWanted.wait(until: clock.now + .milliseconds(250))
            await pauseFaultyCredentials()
            await reportRoutes()
        }
    }

    /// Tells the fleet what the results since the last time say of routes.
    private func reportRoutes() async {
        for (route, flow) in routeFlows {
            do {
                try await report(route, flow)
            } catch {
                logger.warning("route not reported yet", metadata: ["route": "\(route)", "error": "\(error)"])
            }
        }
    }

    private func report(_ route: Route.ID, _ flow: RouteFlow) async throws {
        if let reason = flow.tripped, !flow.isTripTold {
            let span = try await store.trip(route, reason: reason)
            routeFlows[route]?.isTripTold = true
            routeFlows[route]?.reopensAt = clock.now + (span ?? .seconds(5))
            if span != nil {
                logger.error("breaker opened", metadata: ["route": "\(route)", "reason": "\(reason.name)"])
            }
        } else if flow.health.isOnTrial, flow.health.hasWorked, !flow.trialWorked {
            try await store.endTrial(of: route)
            routeFlows[route]?.trialWorked = true
            logger.info("route works again", metadata: ["route": "\(route)"])
        }
        if let span = flow.slowFor {
            try await store.slow(route, begun: max(flow.begun, flow.begunBefore), for: span)
            // Meanwhile an answer may have asked for longer.
            if routeFlows[route]?.slowFor == span { routeFlows[route]?.slowFor = nil }
            for batch in held.values where batch.route.id == route { batch.isPaced = true }
            logger.warning("route slowed down", metadata: ["route": "\(route)"])
        }
    }

    /// Its breaker is open as far as this worker knows, and the fleet does not know it yet: a batch that went back now
    /// would be claimed again at once.
    func isTripUntold(of route: Route.ID) -> Bool {
        routeFlows[route].map { $0.tripped != nil && !$0.isTripTold } ?? false
    }

    /// How long a batch that goes back waits: as long as its route's breaker stays open.
    func suspension(of route: Route.ID) -> Duration? {
        guard let flow = routeFlows[route], flow.tripped != nil, let reopensAt = flow.reopensAt else { return nil }
        return max(.seconds(1), reopensAt - clock.now)
    }
}
