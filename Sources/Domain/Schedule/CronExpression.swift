/// Five fields: minute, hour, day of month, month, day of week; `*`, numbers, names, ranges, steps, lists (crontab(5)).
///
/// A day counts if the day of month and the day of week both do; where neither field begins with `*`, one is enough.
package struct CronExpression: Sendable, Equatable {
    /// A bit for each value.
    private let minutes, hours, days, months, weekdays: UInt64
    private let eitherDay: Bool

    /// - Returns: nil where a field is malformed or out of range, or where no date ever fits, such as 30 February.
    package init?(_ text: String) {
        let fields = text.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
        guard fields.count == 5,
            let minutes = CronField.minute.bits(of: fields[0]), let hours = CronField.hour.bits(of: fields[1]),
            let days = CronField.day.bits(of: fields[2]), let months = CronField.month.bits(of: fields[3]),
            let weekdays = CronField.weekday.bits(of: fields[4])
        else { return nil }
        self.minutes = minutes
        self.hours = hours
        self.days = days
        self.months = months
        // 7 is Sunday too.
        self.weekdays = weekdays & 0x7F | weekdays >> 7
        eitherDay = !fields[2].hasPrefix("*") && !fields[4].hasPrefix("*")
        if next(after: WallMinute(0)) == nil { return nil }
    }

    /// The first wall time that fits, later than `wall`; nil = none in the next ten years, so never.
    package func next(after wall: WallMinute) -> WallMinute? {
        let from = wall.rawValue + 1
        var day = Int64(Self.floor(from, 1440))
        var minute = Int(from - day * 1440)
        for _ in 0..<3653 {
            if fits(day: Int(day)), let found = firstMinute(from: minute) {
                return WallMinute(day * 1440 + Int64(found))
            }
            day += 1
            minute = 0
        }
        return nil
    }

    private func firstMinute(from minute: Int) -> Int? {
        for hour in minute / 60..<24 where hours & (1 << UInt64(hour)) != 0 {
            let first = hour == minute / 60 ? minute % 60 : 0
            let rest = minutes >> UInt64(first)
            if rest != 0 { return hour * 60 + first + rest.trailingZeroBitCount }
        }
        return nil
    }

    private func fits(day number: Int) -> Bool {
        let (_, month, day) = Instant.date(daysSince1970: number)
        guard months & (1 << UInt64(month)) != 0 else { return false }
        let fitsDay = days & (1 << UInt64(day)) != 0
        // 1970-01-01 was a Thursday.
        let weekday = ((number + 4) % 7 + 7) % 7
        let fitsWeekday = weekdays & (1 << UInt64(weekday)) != 0
        return eitherDay ? fitsDay || fitsWeekday : fitsDay && fitsWeekday
    }

    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : (value - divisor + 1) / divisor
    }
}

/// A wall clock's time, in whole minutes since its 1970-01-01T00:00, without a zone.
package struct WallMinute: Sendable, Hashable, Comparable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
