import Housekeeping
import Logging
import Postgres
import QueueStore
import ServiceLifecycle

extension Fleet {
    /// The janitor's slow work, on connections of its own.
    func books(_ database: PostgresConfiguration, _ logger: Logger) -> [any Service] {
        let pool = PostgresClient(database, connections: 2, logger: logger)
        let owner = options.ownerURL.map { url in
            PostgresClient(
                options.database.configuration(url), connections: 1, logger: logger)
        }
        let bookkeeper = Bookkeeper(
            store: PostgresBookkeepingStore(client: pool, owner: owner ?? pool),
            exporter: options.exportDirectory.map { DayFiles(directory: $0, logger: logger) },
            configuration: TestHooks().bookkeeper, draw: { Double.random(in: 0..<1) }, logger: logger)
        return [pool] + (owner.map { [$0] } ?? []) + [bookkeeper]
    }
}
