import Delivery
import Housekeeping
import Scheduling
import Testing

/// The promise that a killed worker's batches are sent again within 30 s, by the pace of the defaults: the tests that kill
/// workers run at a quicker one.
@Suite struct RescuePaceTests {
    private static let worker = WorkerConfiguration()
    private static let scheduler = SchedulerConfiguration()
    private static let janitor = JanitorConfiguration()

    /// What comes one after the other when each just misses its turn.
    private static let worst: [(step: String, takes: Duration)] = [
        ("the lease, renewed as the worker was killed", worker.lease),
        ("the look that first sees it lapsed", janitor.rescueTick),
        ("the span for which it must be seen so", janitor.sightingSpan),
        ("the look that rescues", janitor.rescueTick),
        ("the scheduler's next look at what is ready", scheduler.tick),
        // Not to be set: see Worker.readHeads.
        ("the age of what a worker knows to be ready", .seconds(1)),
        ("the wait of an idle worker", worker.idle),
    ]

    @Test func `a killed worker's batches are claimed again within 30 s, with a fifth of that left to the statements`()
    {
        let sum = Self.worst.reduce(Duration.zero) { $0 + $1.takes }
        #expect(sum <= .seconds(24), "\(Self.worst)")
    }

    @Test(arguments: [
        ("pulse", worker.pulse, worker.lease / 10), ("rescueTick", janitor.rescueTick, janitor.longestGap / 2),
    ]) func `what keeps a living worker and a janitor's sightings going comes in time`(
        name: String, span: Duration, atMost: Duration
    ) {
        #expect(span <= atMost)
    }
}
