import Glibc

/// The time of a log line.
enum WallClock {
    /// Now in UTC, as in RFC 3339 with milliseconds: `2026-12-24T09:00:00.042Z`.
    static func timestamp() -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return timestamp(seconds: now.tv_sec, milliseconds: now.tv_nsec / 1_000_000)
    }

    /// - Parameter seconds: since 1970.
    static func timestamp(seconds: Int, milliseconds: Int) -> String {
        var seconds = seconds
        var date = tm()
        gmtime_r(&seconds, &date)
        let day = [padded(date.tm_year + 1900, 4), padded(date.tm_mon + 1, 2), padded(date.tm_mday, 2)]
        let time = [padded(date.tm_hour, 2), padded(date.tm_min, 2), padded(date.tm_sec, 2)]
        let fraction = padded(Int32(milliseconds), 3)
        return day.joined(separator: "-") + "T" + time.joined(separator: ":") + "." + fraction + "Z"
    }

    private static func padded(_ number: Int32, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
