import Domain
import Logging
import Threading

/// Subscribers of one run in a row that were refused for the same reason.
struct RefusalStreak {
    var reason: Reason
    var count: Int
}

extension Worker {
    /// Content that the provider refuses for one subscriber after the other is refused for all: the run pauses itself.
    ///
    /// Each worker counts what it sees, in memory: a fleet of W workers refuses at most W times as many before it stops.
    /// A delivery ends the row, another reason begins a new one; answers that say nothing of the content do neither.
    /// Single notifications are not counted: they share a run, and each says something of its own.
    func countRefusals(_ answer: Answer, of run: Run.ID) {
        guard configuration.refusalsInARow > 0 else { return }
        switch answer {
        case .delivered:
            refusals[run] = nil
        case .refused(let reason) where !reason.isAboutAddress:
            if refusals.count > 1000 { refusals.removeAll() }
            var streak = refusals[run] ?? RefusalStreak(reason: reason, count: 0)
            streak = RefusalStreak(reason: reason, count: streak.reason == reason ? streak.count + 1 : 1)
            refusals[run] = streak
            guard streak.count >= configuration.refusalsInARow else { return }
            // Whoever resumes it starts a new row.
            refusals[run] = nil
            runsToPause[run] = streak
            for batch in held.values where batch.claimed.run == run { batch.isLive = false }
            choresWanted.signal()
        case .refused, .unregistered, .retry, .slowDown, .credential, .wrongProject, .config:
            break
        }
    }

    func pauseRefusedRuns() async {
        for (run, streak) in runsToPause {
            let detail = "\(streak.count) subscribers in a row were refused: \(streak.reason.name)"
            let isPaused: Bool
            do {
                isPaused = try await store.pause(run: run, reason: streak.reason, detail: detail)
            } catch {
                logger.warning("run not paused yet", metadata: ["run": "\(run)", "error": "\(error)"])
                return
            }
            runsToPause[run] = nil
            guard isPaused else { continue }
            logger.error("run paused itself", metadata: ["run": "\(run)", "detail": "\(detail)"])
        }
    }
}
