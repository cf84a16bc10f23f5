import Domain
import Logging

extension AccessTokens {
    /// One look at the row, and the refresh if it is due and this worker's turn.
    /// - Returns: how long to wait before the next look.
    func refreshIfDue(failures: inout Int) async -> Duration {
        do {
            if try source.reload() { update { $0.forgetRefusal() } }
        } catch {
            logger.info("Key file cannot be used, the one read before stays", metadata: metadata(["error": "\(error)"]))
        }
        do {
            let row = try await store.sealedToken(credential: credential)
            let local = ContinuousClock.now
            let moment = Moment(instant: try await store.now(), local: local)
            if let rest = takeUp(row, at: moment) {
                failures = 0
                return min(rest, configuration.idleInterval)
            }
            let isMine = try await store.beginRefresh(
                credential: credential, by: worker, for: configuration.refreshSpan, replacing: row?.expiresAt)
            guard isMine else { return configuration.pollInterval }
            let answer = try await source.issue(at: moment.instant)
            return try await takeUp(answer, at: moment, failures: &failures)
        } catch {
            // The database or the network. The token in use lives on, and so does the wish for the next.
            failures += 1
            logger.info("Access token not refreshed", metadata: metadata(["error": "\(error)"]))
            return backoff(failures, atLeast: nil)
        }
    }

    /// Installs the token of the row unless it is in use already.
    /// - Returns: how long it needs no refresh; nil when it needs one now, or there is none that can be used.
    private func takeUp(_ row: SealedToken?, at moment: Moment) -> Duration? {
        let now = moment.instant
        guard let row, now + configuration.margin < row.expiresAt else { return nil }
        let (isRejected, isInstalled) = update { ($0.isRejected(row), $0.isInstalled(row, owner: source.owner)) }
        if isRejected { return nil }
        if !isInstalled {
            guard let token = source.open(row, credential: credential) else { return nil }
            install(token, row, at: moment)
        }
        let due = row.issuedAt + refreshAge(lifetime: row.expiresAt - row.issuedAt)
        return now < due ? due - now : nil
    }

    private func takeUp(_ answer: OAuthAnswer, at moment: Moment, failures: inout Int) async throws -> Duration {
        let now = moment.instant
        switch answer {
        case .token(let token, let lifetime):
            failures = 0
            let row = try source.seal(token, issuedAt: now, expiresAt: now + lifetime, credential: credential)
            // The row first: were it to keep a token that the provider refused, that one would be taken up again.
            try await store.store(row, credential: credential, by: worker)
            install(token, row, at: moment)
            logger.info("Access token refreshed", metadata: metadata(["lifetime": "\(lifetime)"]))
            return min(refreshAge(lifetime: lifetime), configuration.idleInterval)
        case .failed(let answer, let word):
            failures += 1
            logger.info(
                "Access token refused", metadata: metadata(["answer": "\(answer)", "error": "\(word ?? "none")"]))
            switch answer {
            case .credential, .config:
                update { $0.refuse(answer) }
                return configuration.refusalInterval
            case .retry(_, let after), .slowDown(_, let after): return backoff(failures, atLeast: after)
            case .delivered, .unregistered, .refused, .wrongProject: return backoff(failures, atLeast: nil)
            }
        }
    }

    private func install(_ token: AccessToken, _ row: SealedToken, at moment: Moment) {
        let usable = row.expiresAt - moment.instant - configuration.margin
        update {
            $0.install(
                token, owner: source.owner, issuedAt: row.issuedAt, expiresAt: row.expiresAt,
                usableUntil: moment.local + usable,
                clock: DatabaseClock(reading: moment.instant, takenAt: moment.local))
        }
    }

    private func refreshAge(lifetime: Duration) -> Duration {
        let jitter = configuration.jitterShare
        return lifetime * (configuration.refreshShare + (jitter > 0 ? Double.random(in: -jitter...jitter) : 0))
    }

    private func backoff(_ failures: Int, atLeast floor: Duration?) -> Duration {
        let doubled = configuration.firstRetry * (1 << min(failures - 1, 16))
        let wait = min(configuration.longestRetry, doubled) * Double.random(in: 0.5...1)
        return max(wait, floor ?? .zero)
    }

    private func metadata(_ more: Logger.Metadata) -> Logger.Metadata {
        more.merging(["credential": "\(credential)"]) { own, _ in own }
    }
}

/// The same moment by the database's clock and, not later, by this process'.
private struct Moment {
    let instant: Instant
    let local: ContinuousClock.Instant
}
