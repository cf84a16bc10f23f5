import Delivery
import Domain
import Glibc
import Housekeeping
import Scheduling
import Synchronization

/// What tests of whole processes set by environment; nobody else does.
///
/// - `PUSHFLEET_DIE_AT=flush.after` or `flush.after:3`: the process kills itself when it passes that checkpoint (for the
///   third time).
/// - `PUSHFLEET_DIE_OF=1-7`: the process kills itself when it is about to begin job 7 of run 1.
/// - `PUSHFLEET_TEST_PACE=quick`: a dead worker is found in some 3 s instead of 20, an address that is called dead is
///   retired after 3 s instead of ten minutes, and pages are small.
struct TestHooks {
    private let isQuick = environment("PUSHFLEET_TEST_PACE") == "quick"

    let checkpoints: Checkpoints = {
        if let poison = environment("PUSHFLEET_DIE_OF") {
            return Checkpoints(begin: { if $0.text == poison { kill(getpid(), SIGKILL) } }, { _ in })
        }
        guard let text = environment("PUSHFLEET_DIE_AT") else { return .none }
        let parts = text.split(separator: ":")
        guard let name = parts.first, let point = Checkpoint(rawValue: String(name)) else { return .none }
        let turn = parts.count > 1 ? Int(parts[1]) ?? 1 : 1
        let passed = Counter()
        return Checkpoints { if $0 == point, passed.next() == turn { kill(getpid(), SIGKILL) } }
    }()

    private final class Counter: Sendable {
        private let value = Atomic(0)
        func next() -> Int { value.add(1, ordering: .relaxed).newValue }
    }

    func quicken(_ configuration: inout WorkerConfiguration) { if isQuick { configuration.lease = .seconds(2) } }

    var scheduler: SchedulerConfiguration {
        var configuration = SchedulerConfiguration()
        if isQuick { configuration.pageSize = 100 }
        return configuration
    }

    var bookkeeper: BookkeeperConfiguration {
        var configuration = BookkeeperConfiguration()
        if isQuick {
            configuration.foldTick = .milliseconds(500)
            configuration.auditTick = .milliseconds(500)
            configuration.clearTick = .milliseconds(500)
        }
        return configuration
    }

    var janitor: JanitorConfiguration {
        var configuration = JanitorConfiguration()
        if isQuick {
            configuration.rescueTick = .milliseconds(200)
            configuration.sightingSpan = .seconds(1)
            configuration.settleTick = .milliseconds(200)
            configuration.tokenTick = .milliseconds(200)
            configuration.tokenHold = .seconds(3)
        }
        return configuration
    }
}
