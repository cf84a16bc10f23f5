import Domain
import Foundation
import Postgres
import TestSupport
import Testing

@testable import QueueStore

/// Wall clocks against Python's `zoneinfo`. `PUSHFLEET_ZONES=full` looks at every half hour and every zone's occurrences.
@Suite(.timeLimit(.minutes(30))) struct ZoneTests {
    private static let isFull = ProcessInfo.processInfo.environment["PUSHFLEET_ZONES"] == "full"

    @Test func `every zone's clock shows what an independent implementation says, over three years`() async throws {
        try await TemporaryDatabase.run { database in
            try await database.withClient { client in
                let zones = try await zones(client)
                #expect(zones.count > 300)
                var checked = 0
                // A few zones at a time, for what the full form holds in memory.
                for start in stride(from: 0, to: zones.count, by: 20) {
                    let some = Array(zones[start..<min(start + 20, zones.count)])
                    let lines = try ask(["instants"] + (Self.isFull ? ["--full"] : []), zones: some)
                    checked += lines.count
                    let wrong = try await wrongAnswers(lines.map { $0.split(separator: "\t") }, client)
                    #expect(wrong == [])
                }
                #expect(checked > 20_000)
            }
        }
    }

    /// Named: those that jump at midnight, at one, by half an hour, by two hours, twice a year for Ramadan.
    @Test func `a daily occurrence is due once a day and hour, as an independent implementation says`() async throws {
        try await TemporaryDatabase.run { database in
            try await database.withClient { client in
                let known = try await zones(client)
                let named = [
                    "Europe/Lisbon", "America/New_York", "America/Havana", "Africa/Cairo", "Asia/Beirut",
                    "Australia/Lord_Howe", "Antarctica/Troll", "Africa/Casablanca", "Pacific/Chatham",
                    "America/Scoresbysund",
                ]
                let zones = Self.isFull ? known : known.filter(named.contains)
                let cron = try #require(CronExpression("30 0,1,2 * * *"))
                let start = Instant(microseconds: 1_767_139_200_000_000)
                for zone in zones {
                    let expected = try ask(["daily", "30", "0,1,2"], zones: [zone]).map {
                        Int64($0.split(separator: "\t")[1])
                    }
                    let found = try await client.withConnection(deadline: .seconds(60)) { connection in
                        try await connection.occurrences(
                            of: cron, zone: zone, after: start, upTo: nil, limit: 3400)
                    }
                    let seconds = found.map { $0.microseconds / 1_000_000 }
                    #expect(Set(seconds).count == seconds.count)
                    let first = try #require(expected[0])
                    let last = try #require(expected[expected.count - 1])
                    #expect(seconds.filter { first...last ~= $0 } == expected, "\(zone)")
                }
            }
        }
    }

    private func zones(_ client: PostgresClient) async throws -> [String] {
        try await client.query("SELECT name FROM pushfleet.time_zone ORDER BY name").map { $0.string(0) }
    }

    private func wrongAnswers(_ lines: [[Substring]], _ client: PostgresClient) async throws -> [String] {
        let zones = lines.map { String($0[0]) }
        let walls = lines.compactMap { Int64($0[1]) }
        let instants = lines.compactMap { Int64($0[2]) }
        return try await client.query(
            """
            SELECT given.zone || ' ' || given.wall || ': ' || own.at
            FROM unnest(\(zones), \(walls), \(instants)) AS given (zone, wall, at)
            CROSS JOIN LATERAL (
                SELECT extract(epoch FROM pushfleet.local_instant(
                    timestamp '1970-01-01' + given.wall * interval '1 min', given.zone))::bigint AS at
            ) own
            WHERE own.at <> given.at
            LIMIT 20
            """, deadline: .seconds(600)
        ).map { $0.string(0) }
    }

    private func ask(_ arguments: [String], zones: [String]) throws -> [Substring] {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Independent/zones.py").path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", script] + arguments
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data((zones.joined(separator: "\n") + "\n").utf8))
        try input.fileHandleForWriting.close()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return text.split(separator: "\n")
    }
}
