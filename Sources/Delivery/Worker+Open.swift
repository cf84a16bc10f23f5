import Domain
import Logging

extension Worker {
    /// How the jobs of a batch go out, and what they say.
    private struct Way {
        let route: Route
        let transport: any Transport
        let messages: BatchMessages
    }

    /// Reads the jobs of a claimed batch and takes it into the worker's hands.
    func open(_ claimed: ClaimedBatch, saying versions: [ContentVersion.ID]) async throws {
        let known = knownMessages(of: claimed, saying: versions)?.names
        // Read beside the route where it is known already what is asked of the subscribers: one wait less until the wire.
        async let readEarly = jobs(of: claimed, attributes: known)
        guard let way = try await way(of: claimed, saying: versions) else { return }
        let jobs: [PushJob]
        if let early = try await readEarly, known == way.messages.names {
            jobs = early
        } else {
            jobs = try await store.jobs(of: claimed, attributes: way.messages.names)
        }
        let otherRoutes = try await otherRoutes(of: jobs, than: way.route)
        let withheld = claimed.terms.isLimited ? try await store.reserve(claimed, worker: identity) : [:]
        if let wait = Self.deferral(of: jobs, withheld) {
            return await giveBack(claimed, begun: 0, notBefore: wait)
        }
        // Lost meanwhile, as a pulse learned, and perhaps claimed here again.
        guard let opened = opening[claimed.id], opened.claimed.epoch == claimed.epoch else { return }
        opening[claimed.id] = nil
        lastNumber &+= 1
        let batch = HeldBatch(
            number: lastNumber, claimed: claimed, jobs: jobs, route: way.route, otherRoutes: otherRoutes,
            transport: way.transport, messages: way.messages, now: clock.now)
        batch.confirmedAt = opened.confirmedAt
        batch.isLive = opened.isLive
        if isFaulty(way.route.credential) { batch.close() }
        batch.withheld = withheld
        held[batch.number] = batch
        // Single notifications go before campaigns, in the order of their collects.
        let place = claimed.isCollected ? order.firstIndex { held[$0]?.claimed.isCollected != true } : nil
        order.insert(batch.number, at: place ?? order.endIndex)
        pump()
    }

    private nonisolated func jobs(of claimed: ClaimedBatch, attributes names: [String]?) async throws -> [PushJob]? {
        guard let names else { return nil }
        return try await store.jobs(of: claimed, attributes: names)
    }

    /// nil: it cannot be sent now, and was given back.
    private func way(of claimed: ClaimedBatch, saying versions: [ContentVersion.ID]) async throws -> Way? {
        guard let route = try await store.route(claimed.route) else {
            await giveBack(claimed, begun: 0, notBefore: .seconds(10))
            return nil
        }
        guard route.state == .open else {
            // Paused since, or collected: it waits in the ordinary claim's way.
            await giveBack(claimed, begun: 0, notBefore: nil)
            return nil
        }
        noteOpened(route)
        closeBatches(of: route.credential.id, before: route.credential.revision)
        if await hasUselessFile(route.credential) {
            await giveBack(claimed, begun: 0, notBefore: .seconds(10))
            return nil
        }
        let transport: any Transport
        do {
            transport = try await transports.transport(for: route)
        } catch let unavailable as TransportUnavailable {
            try await pause(route.credential, as: unavailable)
            await giveBack(claimed, begun: 0, notBefore: nil)
            return nil
        }
        var entries: [ContentVersion.ID: PreparedMessages.Entry] = [:]
        for version in versions {
            let entry = try await message(version, route: route, transport: transport)
            entries[version] = entry
        }
        let messages = BatchMessages(standard: claimed.contentVersion, entries: entries)
        return Way(route: route, transport: transport, messages: messages)
    }

    private func pause(_ credential: CredentialReference, as unavailable: TransportUnavailable) async throws {
        logger.error(
            "credential unusable",
            metadata: ["credential": "\(credential.name)", "error": "\(unavailable)"])
        let fault = CredentialFault(
            reason: unavailable.reason, detail: unavailable.description,
            fingerprint: await transports.fingerprint(of: credential), revision: credential.revision)
        try await store.pause(credential: credential.id, fault: fault)
    }

    /// Late binding: where the subscribers of a batch are reached now that have left its route since expansion.
    private func otherRoutes(of jobs: [PushJob], than route: Route) async throws -> [RouteKey: Route.ID] {
        var keys: Set<RouteKey> = []
        for case let recipient? in jobs.map(\.recipient)
        where recipient.transport != route.transport || recipient.service != route.service {
            keys.insert(RouteKey(transport: recipient.transport, service: recipient.service))
        }
        var routes: [RouteKey: Route.ID] = [:]
        for key in keys {
            let other = try await store.route(app: route.app, transport: key.transport, service: key.service)
            if let other { routes[key] = other.id }
        }
        return routes
    }

    private func message(
        _ version: ContentVersion.ID, route: Route, transport: any Transport
    ) async throws -> PreparedMessages.Entry {
        let key = PreparedMessages.Key(version: version, route: route.id)
        if let entry = prepared[key] { return entry }
        let entry: PreparedMessages.Entry
        do {
            let content = try await store.contentVersion(version)
            entry = PreparedMessages.Entry(
                message: try transport.prepare(content), names: content.placeholderNames, delivery: content.delivery)
        } catch let problems as ContentProblems {
            logger.error(
                "content cannot be sent",
                metadata: [
                    "content_version": "\(version)", "code": "\(problems.problems.first?.code ?? "")",
                    "pointer": "\(problems.problems.first?.pointer ?? "")",
                ])
            entry = PreparedMessages.Entry(message: nil, names: [], delivery: DeliveryOptions())
        }
        prepared[key] = entry
        return entry
    }

    /// What a batch says, if all of it was compiled for its route already.
    private func knownMessages(of claimed: ClaimedBatch, saying versions: [ContentVersion.ID]) -> BatchMessages? {
        var entries: [ContentVersion.ID: PreparedMessages.Entry] = [:]
        for version in versions {
            guard let entry = prepared[PreparedMessages.Key(version: version, route: claimed.route)] else { return nil }
            entries[version] = entry
        }
        return BatchMessages(standard: claimed.contentVersion, entries: entries)
    }
}
