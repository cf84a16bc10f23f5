import Domain
import Loops
import Postgres
import QueueStore

/// Follows a run until nothing of it is open.
struct RunWatch {
    let client: PostgresClient
    let json: Bool

    func follow(_ run: Run.ID) async throws {
        let store = AdminStore(client)
        var line = ProgressLine()
        while !Task.isCancelled {
            guard let progress = try await store.progress(of: run) else {
                throw CommandFailure("run: \(run) is unknown; see: pushfleet campaign list")
            }
            let a = progress.accounting
            let open = a.pending + a.leased + a.retrying
            line.show(
                "run \(run)", done: a.targeted - open, total: progress.expanded ? a.targeted : nil,
                note: note(progress))
            if progress.expanded, open == 0 { break }
            if progress.status == .cancelled, open == 0 { break }
            await pause(.milliseconds(250))
        }
        line.finish()
    }

    private func note(_ progress: RunProgress) -> String {
        switch progress.status {
        case .paused: progress.pausedBecause.map { "paused: \($0)" } ?? "paused"
        case .running where progress.appIsPaused: "its app is paused"
        case .cancelled: "cancelled, settling"
        case .running where !progress.expanded: "expanding"
        case .running, .done:
            progress.accounting.retrying > 0 ? "\(grouped(progress.accounting.retrying)) retrying" : ""
        }
    }
}
