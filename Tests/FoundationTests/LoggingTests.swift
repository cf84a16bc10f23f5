import FoundationEssentials
import Testing
import Threading

@testable import Logging

@Suite struct LoggingTests {
    private let lines = Locked<[String]>([])

    private func logger(level: Logger.Level = .trace) -> Logger {
        Logger(label: "worker") { [lines] label in
            JSONLogHandler(label: label, logLevel: level) { line in lines.withLock { $0.append(line) } }
        }
    }

    private func textLogger() -> Logger {
        Logger(label: "worker") { [lines] label in
            TextLogHandler(label: label) { line in lines.withLock { $0.append(line) } }
        }
    }

    private func onlyLine() throws -> String {
        let lines = lines.withLock { $0 }
        try #require(lines.count == 1)
        return try #require(lines.first)
    }

    @Test func `a line of JSON names time, level, label and message, then the metadata by key`() throws {
        var logger = logger()
        logger[metadataKey: "run"] = "7"
        logger.notice("Batch claimed", metadata: ["batch": .stringConvertible(12), "ok": .stringConvertible(true)])
        let line = try onlyLine()
        #expect(line.hasPrefix("{\"time\":\""))
        let fields = #""level":"notice","label":"worker","message":"Batch claimed","batch":12,"ok":true,"run":"7"}"#
        #expect(line.hasSuffix(fields + "\n"))
    }

    @Test(arguments: [
        "quote \" backslash \\ solidus /", "line\nfeed\r\ttab", "\u{0}\u{1}\u{1F}\u{7F}", "é 漢字 🚢 \u{2028}",
        "\"}\n{\"level\":\"critical\"", "",
    ])
    func `whatever a value holds, a parser reads it back`(value: String) throws {
        logger().info(
            "Any", metadata: ["value": .string(value), "\(value)!": [.string(value), ["k": .string(value)]]])
        let line = try onlyLine()
        #expect(line.utf8.count { $0 == UInt8(ascii: "\n") } == 1)
        struct Fields: Decodable { let value: String }
        #expect(try JSONDecoder().decode(Fields.self, from: Data(line.utf8)).value == value)
    }

    @Test func `metadata cannot pass for a field of the line`() throws {
        logger().info("Any", metadata: ["time": "noon", "level": "critical"])
        let line = try onlyLine()
        #expect(line.contains(#""level":"info""#))
        #expect(line.contains(#""metadata_level":"critical","metadata_time":"noon"}"#))
    }

    @Test func `metadata of the event wins over that of the logger`() throws {
        var logger = logger()
        logger[metadataKey: "run"] = "7"
        logger.info("Any", metadata: ["run": "8"])
        #expect(try onlyLine().contains(#""run":"8"}"#))
    }

    @Test func `a copy has metadata and level of its own`() throws {
        let original = logger()
        var copy = original
        copy[metadataKey: "copy"] = "yes"
        copy.logLevel = .critical
        copy.error("Not shown")
        original.error("Shown")
        #expect(try !onlyLine().contains("copy"))
    }

    @Test func `below the level nothing is made or written`() {
        func unwanted() -> Logger.Message {
            Issue.record("The message was made.")
            return ""
        }
        logger(level: .warning).notice(unwanted())
        #expect(lines.withLock { $0 }.isEmpty)
    }

    @Test func `a line of text quotes what is not one word`() throws {
        textLogger().warning("Route paused", metadata: ["reason": "no\nkey", "route": "fcm", "empty": ""])
        let line = try onlyLine()
        #expect(line.contains("Z warning  worker       Route paused"))
        #expect(line.hasSuffix(" empty=\"\" reason=\"no\\nkey\" route=fcm\n"))
    }

    @Test(arguments: [
        (0, 0, "1970-01-01T00:00:00.000Z"), (1_798_102_800, 42, "2026-12-24T09:00:00.042Z"),
        (1_709_251_199, 999, "2024-02-29T23:59:59.999Z"),
    ])
    func `times are UTC with milliseconds`(seconds: Int, milliseconds: Int, expected: String) {
        #expect(WallClock.timestamp(seconds: seconds, milliseconds: milliseconds) == expected)
    }

    private func sampled(_ label: String, _ samples: LogSamples) -> Logger {
        Logger(label: label) { [lines] label in
            let handler = JSONLogHandler(label: label) { line in lines.withLock { $0.append(line) } }
            return SampledLogHandler(handler, label: label, samples: samples)
        }
    }

    @Test func `a repeated fault shows once per interval and says how many were held back`() {
        let now = Locked(ContinuousClock.now)
        let logger = sampled("worker", LogSamples(interval: .seconds(10)) { now.withLock { $0 } })
        for _ in 0..<5 { logger.warning("Connection lost") }
        logger.warning("Another")
        logger.info("Connection lost")
        logger.info("Connection lost")
        now.withLock { $0 += .seconds(10) }
        for _ in 0..<2 { logger.warning("Connection lost") }
        let shown = lines.withLock { $0 }
        #expect(shown.count == 5)
        #expect(shown.last?.contains(#""repeated":4}"#) == true)
    }

    @Test func `the last of a fault that ended is shown with whatever is logged next, by whomever`() {
        let now = Locked(ContinuousClock.now)
        let samples = LogSamples(interval: .seconds(10)) { now.withLock { $0 } }
        let (worker, janitor) = (sampled("worker", samples), sampled("janitor", samples))
        for turn in 1...5 { worker.error("Flush failed", metadata: ["turn": .stringConvertible(turn)]) }
        janitor.info("Day dropped")
        #expect(lines.withLock(\.count) == 2)
        now.withLock { $0 += .seconds(10) }
        janitor.info("Day dropped")
        let shown = lines.withLock { $0 }
        #expect(shown.count == 4)
        #expect(shown[2].contains(#""label":"worker","message":"Flush failed","repeated":3,"turn":5}"#), "\(shown[2])")
        now.withLock { $0 += .seconds(10) }
        janitor.info("Day dropped")
        #expect(lines.withLock(\.count) == 5)
    }

    @Test(arguments: [1, 7, 100, 1001])
    func `what is shown and what is said to be repeated are all that happened`(faults: Int) throws {
        let now = Locked(ContinuousClock.now)
        let logger = sampled("worker", LogSamples(interval: .seconds(10)) { now.withLock { $0 } })
        for _ in 0..<faults {
            logger.warning("Route slowed down", metadata: ["route": "7"])
            now.withLock { $0 += .milliseconds(700) }
        }
        now.withLock { $0 += .seconds(10) }
        logger.info("Shutting down")
        struct Fields: Decodable { let level: String, repeated: Int? }
        let shown = try lines.withLock { $0 }.map { try JSONDecoder().decode(Fields.self, from: Data($0.utf8)) }
            .filter { $0.level == "warning" }
        #expect(shown.count + shown.reduce(0) { $0 + ($1.repeated ?? 0) } == faults)
        #expect(shown.count <= faults * 7 / 100 + 2)
    }

    @Test func `one fault of two credentials, routes or runs is shown of each`() {
        let logger = sampled("worker", LogSamples())
        for key in ["credential", "route", "run"] {
            for name in ["a", "b", "a"] { logger.error("Paused", metadata: [key: "\(name)", "error": "\(name)"]) }
        }
        #expect(lines.withLock(\.count) == 6)
    }

    @Test func `one fault of each of many runs does not keep them in memory`() {
        let now = Locked(ContinuousClock.now)
        let samples = LogSamples(interval: .seconds(10)) { now.withLock { $0 } }
        let logger = sampled("worker", samples)
        for run in 0..<5000 {
            logger.error("Paused", metadata: ["run": "\(run)"])
            now.withLock { $0 += .milliseconds(100) }
        }
        #expect(lines.withLock(\.count) == 5000)
        #expect(samples.count < 700)
    }
}
