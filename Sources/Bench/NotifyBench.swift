import ArgumentParser
import Logging
import Postgres
import Threading

/// Calls `notify()` as an application does, each in a transaction of its own, and prints when.
///
/// A line for each: notification's id, the call's begin and its commit as this caller learns of it, in microseconds of the
/// machine's steady clock, by which the simulator's journal goes too.
struct NotifyBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify", abstract: "Queues single notifications.",
        discussion: "EXAMPLE\n  Bench notify --database URL --subscribers 1000 --count 500 --interval 20")
    @Option(help: "PostgreSQL URL.") var database: String
    @Flag(help: "Prepare no statements.") var unprepared = false
    @Option(help: "Subscribers 1 to this number get them, in random order.") var subscribers: Int
    @Option(help: "Calls.") var count = 500
    @Option(help: "Mean pause before a call in milliseconds; each is random, up to twice this. 0 = none.")
    var interval = 0
    @Option(help: "Callers at a time.") var callers = 1

    private static let message = #"{"content": {"en": {"title": "Hi", "body": "Your ferry waits."}, "_default": "en"}}"#

    func run() async throws {
        let client = PostgresClient(
            PostgresConfiguration(database, preparedStatements: !unprepared), connections: callers,
            logger: Logger(label: "bench"))
        let lines = try await withThrowingTaskGroup(of: [String].self) { tasks in
            for caller in 0..<callers {
                let share = count / callers + (caller < count % callers ? 1 : 0)
                tasks.addTask { try await call(client, times: share) }
            }
            var lines: [String] = []
            for try await some in tasks { lines += some }
            return lines
        }
        await client.close()
        print(lines.joined(separator: "\n"))
    }

    private func call(_ client: PostgresClient, times: Int) async throws -> [String] {
        let pause = Wakeup()
        var lines: [String] = []
        for _ in 0..<times {
            if interval > 0 {
                await pause.wait(until: .now + .microseconds(Int64.random(in: 0...Int64(interval) * 2000)))
            }
            let begun = Self.microseconds()
            let rows = try await client.query(
                """
                SELECT pushfleet.notify(
                    'ferry', jsonb_build_object('subscriber', \(Int64.random(in: 1...Int64(subscribers)))),
                    \(Self.message)::jsonb
                )
                """)
            lines.append("\(rows[0].int64(0))\t\(begun)\t\(Self.microseconds())")
        }
        return lines
    }

    private static func microseconds() -> Int64 {
        let (seconds, attoseconds) = (ContinuousClock.now - ContinuousClock().systemEpoch).components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
