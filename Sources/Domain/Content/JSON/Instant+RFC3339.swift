extension Instant {
    /// Reads an instant with a zone, such as `2031-03-01T06:30:00Z` or `…+01:00`, to microseconds (RFC 3339 §5.6).
    /// - Returns: nil for anything else, also for days that no month has. A leap second is not taken.
    package init?(rfc3339 text: String) {
        var reader = DateTimeReader(Array(text.utf8))
        guard let local = reader.localMicroseconds(requiresSeconds: true), let offset = reader.offsetMinutes(),
            reader.isAtEnd
        else { return nil }
        self.init(microseconds: local - Int64(offset) * 60_000_000)
    }

    /// In UTC, with six digits of fraction; years 0000 to 9999.
    package var rfc3339: String {
        var bytes: [UInt8] = []
        appendRFC3339(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func appendRFC3339(to bytes: inout [UInt8]) {
        let time = Int(Self.modulo(microseconds, 86_400_000_000))
        let (year, month, day) = Self.date(daysSince1970: Int((microseconds - Int64(time)) / 86_400_000_000))
        let seconds = time / 1_000_000
        let fields: [(value: Int, width: Int, next: Unicode.Scalar)] = [
            (year, 4, "-"), (month, 2, "-"), (day, 2, "T"), (seconds / 3600, 2, ":"), (seconds / 60 % 60, 2, ":"),
            (seconds % 60, 2, "."), (time % 1_000_000, 6, "Z"),
        ]
        for (value, width, next) in fields {
            var divisor = (1..<width).reduce(1) { power, _ in power * 10 }
            while divisor > 0 {
                bytes.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
                divisor /= 10
            }
            bytes.append(UInt8(ascii: next))
        }
    }

    private static func modulo(_ value: Int64, _ divisor: Int64) -> Int64 {
        let rest = value % divisor
        return rest < 0 ? rest + divisor : rest
    }

    /// The Gregorian date, by eras of 400 years that begin in March.
    static func date(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}

/// A wall clock's time without a zone, such as `2031-01-01T00:00`.
package struct LocalDateTime: Sendable, Equatable {
    /// As `YYYY-MM-DDThh:mm:ss`, which PostgreSQL reads as a `timestamp`.
    package let text: String

    /// - Returns: nil for anything but `YYYY-MM-DDThh:mm[:ss]`, also for days that no month has.
    package init?(_ text: String) {
        var reader = DateTimeReader(Array(text.utf8))
        guard reader.localMicroseconds(requiresSeconds: false) != nil, reader.isAtEnd else { return nil }
        guard text.utf8.count == 16 || text.utf8.count == 19 else { return nil }
        self.text = text.utf8.count == 16 ? text + ":00" : text
    }
}

/// Reads the fields of a date and time, from left to right.
private struct DateTimeReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// Microseconds from 1970-01-01T00:00:00 to the date and time as written.
    mutating func localMicroseconds(requiresSeconds: Bool) -> Int64? {
        guard let year = digits(4), take("-"), let month = digits(2), take("-"), let day = digits(2),
            take("T") || take("t"), let hour = digits(2), take(":"), let minute = digits(2),
            1...12 ~= month, 1...Self.days(in: month, of: year) ~= day, hour < 24, minute < 60
        else { return nil }
        var second = 0
        var fraction = 0
        if take(":") {
            guard let written = digits(2), written < 60 else { return nil }
            second = written
            if take(".") {
                guard let read = microseconds() else { return nil }
                fraction = read
            }
        } else if requiresSeconds {
            return nil
        }
        let minutes = (Self.daysSince1970(year, month, day) * 24 + hour) * 60 + minute
        return Int64(minutes * 60 + second) * 1_000_000 + Int64(fraction)
    }

    mutating func offsetMinutes() -> Int? {
        if take("Z") || take("z") { return 0 }
        let sign = take("+") ? 1 : take("-") ? -1 : 0
        guard sign != 0, let hour = digits(2), take(":"), let minute = digits(2), hour < 24, minute < 60 else {
            return nil
        }
        return sign * (hour * 60 + minute)
    }

    private mutating func digits(_ count: Int) -> Int? {
        guard position + count <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[position..<position + count] {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        position += count
        return value
    }

    /// The digits of a second's fraction; what is finer than a microsecond is dropped.
    private mutating func microseconds() -> Int? {
        var value = 0
        var scale = 100_000
        let start = position
        while position < bytes.count, let digit = digits(1) {
            value += digit * scale
            scale /= 10
        }
        return position > start ? value : nil
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days of the Gregorian calendar; March begins the year, so that a leap day ends it.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
