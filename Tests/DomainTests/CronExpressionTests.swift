import Testing

@testable import Domain

struct CronExpressionTests {
    /// Minutes since 1970 of a wall time.
    private func wall(_ text: String) throws -> WallMinute {
        WallMinute(try #require(Instant(rfc3339: text + ":00Z")).microseconds / 60_000_000)
    }

    @Test(
        arguments: [
            ("0 9 * * MON", "2026-11-30T08:59", "2026-11-30T09:00"),
            ("0 9 * * MON", "2026-11-30T09:00", "2026-12-07T09:00"),
            ("*/15 8-10 * * *", "2026-11-30T10:45", "2026-12-01T08:00"),
            ("5/20 * * * *", "2026-11-30T10:25", "2026-11-30T10:45"),
            ("0 0 29 2 *", "2026-01-01T00:00", "2028-02-29T00:00"),
            ("0 0 29 2 *", "2096-02-29T00:00", "2104-02-29T00:00"),
            ("0 0 31 * *", "2026-08-31T00:00", "2026-10-31T00:00"),
            // Either day counts where both are named.
            ("0 12 13 * FRI", "2026-11-13T12:00", "2026-11-20T12:00"),
            ("0 12 */2 * FRI", "2026-11-13T12:00", "2026-11-27T12:00"),
            ("0 12 * JAN,dec SAT-SUN", "2026-11-13T12:00", "2026-12-05T12:00"),
            ("0 12 * * 7", "2026-11-29T12:00", "2026-12-06T12:00"),
            ("59 23 31 12 *", "2026-12-31T23:59", "2027-12-31T23:59"),
            ("0\t9  * * 1-5", "2026-11-27T09:00", "2026-11-30T09:00"),
        ])
    func `the next time that fits is found`(expression: String, after: String, next: String) throws {
        let cron = try #require(CronExpression(expression))
        #expect(cron.next(after: try wall(after)) == (try wall(next)))
    }

    @Test(
        arguments: [
            "", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8",
            "0 0 30 2 *", "0 0 31 FEB,APR *", "*/0 * * * *", "5-1 * * * *", "a * * * *", "1,,2 * * * *", "- * * * *",
            "+1 * * * *", "1.5 * * * *", "* * * MONDAY *", "99999999999999999999 * * * *", "@daily", "٣ * * * *",
        ])
    func `what is no expression, or never fits, is refused`(expression: String) {
        #expect(CronExpression(expression) == nil)
    }

    @Test func `every time that fits is met in order, each once`() throws {
        let cron = try #require(CronExpression("*/7 3,4 1-7 */2 MON"))
        var at = try wall("2026-01-01T00:00")
        var seen: [WallMinute] = []
        while let next = cron.next(after: at), next < (try wall("2028-01-01T00:00")) {
            #expect(next > at)
            seen.append(next)
            at = next
        }
        var expected: [WallMinute] = []
        for minute in try wall("2026-01-01T00:01").rawValue..<wall("2028-01-01T00:00").rawValue {
            let (_, month, day) = Instant.date(daysSince1970: Int(minute / 1440))
            let (hour, inHour) = (minute % 1440 / 60, minute % 60)
            // A range for the day of month is no star: either day counts.
            let fitsDay = day <= 7 || (minute / 1440 + 4) % 7 == 1
            if inHour % 7 == 0, [3, 4].contains(hour), month % 2 == 1, fitsDay { expected.append(WallMinute(minute)) }
        }
        #expect(seen == expected)
    }

    @Test func `missed occurrences are skipped, caught up once, or all`() {
        let now = Instant(microseconds: 1_000_000_000_000)
        let due = [-7200, -3600, -30].map { now + .seconds($0) }
        #expect(DueOccurrences.chosen(from: due, now: now, missed: .skip) == [due[2]])
        #expect(DueOccurrences.chosen(from: Array(due.prefix(2)), now: now, missed: .skip).isEmpty)
        #expect(DueOccurrences.chosen(from: Array(due.prefix(2)), now: now, missed: .latest) == [due[1]])
        #expect(DueOccurrences.chosen(from: due, now: now, missed: .all) == due)
    }

    @Test func `an interval of a share is Wilson's`() throws {
        // NIST/SEMATECH handbook, 7.2.4.1: 4 of 20 at 95 %.
        let interval = try #require(ProportionInterval(successes: 4, of: 20))
        #expect(interval.share == 0.2)
        #expect(abs(interval.low - 0.0807) < 0.0001 && abs(interval.high - 0.4160) < 0.0001)
        #expect(ProportionInterval(successes: 0, of: 0) == nil)
        let certain = try #require(ProportionInterval(successes: 10, of: 10))
        #expect(certain.share == 1 && certain.high > 0.999_999 && certain.high <= 1)
    }
}
