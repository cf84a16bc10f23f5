import Domain
import Glibc
import Housekeeping
import Logging
import Threading

/// Keeps each day that retention drops as a CSV file, which has its final name only when it is whole and on the disk.
struct DayFiles: DayExporter {
    let directory: String
    let logger: Logger

    func export(_ day: ExpiredDay, from store: any BookkeepingStore) async throws {
        let path = "\(directory)/\(day.partition).csv"
        // Of this process: another janitor may be at the same day.
        let part = "\(path).\(getpid()).part"
        try AppendingFile.remove(part)
        let file = try AppendingFile(path: part)
        try await store.export(day) { try file.write($0) }
        try file.sync()
        try AppendingFile.rename(part, to: path)
        logger.info("day exported", metadata: ["file": "\(path)"])
    }
}
