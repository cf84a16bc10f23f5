import Domain
import Glibc
import Postgres
import QueueStore
import TestSupport
import Testing

/// kill -9 between any two statements, in processes as users run them.
@Suite(.timeLimit(.minutes(4))) struct KillTests {
    struct Case: Sendable {
        /// Where a process dies, and at which passing.
        var point: Checkpoint
        var turn = 1
        var policy = InDoubtPolicy.retry
        var prefix = "ok-"

        var role: String {
            switch point {
            case .beforePage, .afterPage, .beforeRebatch, .afterRebatch: "scheduler"
            case .beforeRescue, .afterRescue: "janitor"
            default: "worker"
            }
        }
        var dieAt: String { "\(point.rawValue):\(turn)" }
    }

    /// Every named point; and what may have left is not repeated where the campaign asks so.
    private static let cases =
        Checkpoint.allCases.map { point in
            switch point {
            case .beforeFlush, .afterFlush: Case(point: point, turn: 3)
            case .beforeSend, .afterSend, .beforePage, .afterPage: Case(point: point, turn: 2)
            case .beforeRebatch, .afterRebatch: Case(point: point, prefix: "e503-once-")
            default: Case(point: point)
            }
        } + [
            Case(point: .afterSend, turn: 2, policy: .assumeSent),
            Case(point: .afterFlush, turn: 3, policy: .assumeSent),
        ]

    @Test func `a process that is killed at any point loses nothing, and another finishes its work`() async throws {
        try await ProviderProcess.run(["--latency", "20ms±10ms", "--retry-after", "1"]) { provider in
            try await withThrowingTaskGroup(of: Void.self) { group in
                var waiting = Self.cases.enumerated().makeIterator()
                for _ in 0..<6 {
                    guard let (index, next) = waiting.next() else { break }
                    group.addTask { try await Self.play(next, index, provider) }
                }
                while try await group.next() != nil {
                    guard let (index, next) = waiting.next() else { continue }
                    group.addTask { try await Self.play(next, index, provider) }
                }
            }
            #expect(try await provider.count("devices_shown_more_than_once") == 0)
        }
    }

    private static let slowly = ["--connections", "1", "--streams", "20"]

    private static func play(_ row: Case, _ index: Int, _ provider: ProviderProcess) async throws {
        let firstRun = Int64(index + 1) * 1000
        try await Site.run(on: provider, subscribers: 300, prefix: row.prefix, firstRun: firstRun) { site in
            let run = try await site.createCampaign(policy: row.policy)
            try await kill(row, site)
            // Fresh processes, one of each role.
            for role in ["scheduler", "worker", "janitor"] { _ = try site.start(roles: role) }
            try await site.untilSettled(run)
            try await expectPromises(row, run, site)
        }
    }

    /// Starts what it takes for the point to be passed, and waits for the death there. The others are ended as well.
    private static func kill(_ row: Case, _ site: Site) async throws {
        let victim: Child
        var others: [Child] = []
        switch row.point {
        case .beforeRescue, .afterRescue:
            others = [try site.start(roles: "scheduler")]
            let worker = try site.start(roles: "worker", slowly, dieAt: "send.after:2")
            await expectExit(worker, .killed, "\(row)")
            victim = try site.start(roles: "janitor", dieAt: row.dieAt)
        case .beforePage, .afterPage:
            others = [try site.start(roles: "worker,janitor")]
            victim = try site.start(roles: "scheduler", dieAt: row.dieAt)
        case .beforeRebatch, .afterRebatch:
            others = [try site.start(roles: "worker,janitor")]
            victim = try site.start(roles: "scheduler", dieAt: row.dieAt)
        case .beforeHandBack, .afterHandBack:
            others = [try site.start(roles: "scheduler,janitor")]
            victim = try site.start(roles: "worker", ["--connections", "1", "--streams", "1"], dieAt: row.dieAt)
            try await until("several batches are held") {
                try await site.client.query("SELECT count(*) FROM pushfleet.batch WHERE state = 1")[0].int64(0) > 2
            }
            victim.signal(SIGTERM)
        default:
            others = [try site.start(roles: "scheduler,janitor")]
            victim = try site.start(roles: "worker", slowly, dieAt: row.dieAt)
        }
        await expectExit(victim, .killed, "\(row)")
        for other in others { other.signal(SIGTERM) }
        for other in others {
            // The signal may find a process that has not come as far as to drain: nothing is its own yet.
            let exit = await other.exit()
            #expect(exit == .done || exit == .terminated, "\(row): \(exit) \(other.errors.suffix(2000))")
        }
    }

    private static func expectPromises(_ row: Case, _ run: Run.ID, _ site: Site) async throws {
        try await site.expectSound(run, "\(row)")
        let accounting = try await site.progress(of: run).accounting
        let sent = try await site.accepted(of: run)
        switch row.policy {
        case .retry:
            #expect(accounting.delivered == site.subscribers, "\(row)")
            #expect(sent.count == site.subscribers, "\(row)")
        case .assumeSent:
            #expect(accounting.delivered + accounting.inDoubt == site.subscribers, "\(row)")
            // Killed right after a flush it may hold nothing unanswered; between a send and its answer it does.
            if row.point == .afterSend { #expect(accounting.inDoubt > 0, "\(row)") }
            #expect(sent.values.allSatisfy { $0 == 1 }, "\(row)")
        }
    }
}
