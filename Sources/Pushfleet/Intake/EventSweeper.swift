import Logging
import Loops
import QueueStore
import ServiceLifecycle

/// Clears events that nobody can repeat any more. Each intake does it; they do not get in each other's way.
struct EventSweeper: Service {
    let store: IntakeStore
    let logger: Logger
    private static let limit: Int32 = 5_000

    func run() async throws {
        await repeating("event sweeper", logger: logger, draw: { Double.random(in: 0..<1) }) {
            if try await store.forget(limit: Self.limit) < Int64(Self.limit) { await pause(.seconds(60)) }
        }
    }
}
