import ArgumentParser
import Domain
import Logging
import Postgres
import QueueStore

/// Expands a run to its end, page by page, as a scheduler does.
struct ExpandBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "expand", abstract: "Expands a run to its end.",
        discussion: "EXAMPLE\n  Bench expand 1 --database URL")
    @Argument(help: "The run.") var run: Int
    @Option(help: "PostgreSQL URL.") var database: String
    @Option(help: "Subscribers of one page.") var page = 50_000

    func run() async throws {
        let client = PostgresClient(
            PostgresConfiguration(database), connections: 1, logger: Logger(label: "bench"))
        let store = PostgresScheduleStore(client: client)
        for shard in try await store.shards() {
            while let page = try await store.expand(run: Run.ID(Int64(run)), shard: shard, pageSize: Int32(page)),
                !page.complete
            {}
        }
        await client.close()
    }
}
