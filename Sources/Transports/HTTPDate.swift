/// `IMF-fixdate` of RFC 9110 §5.6.7, the only form that servers may write: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Seconds since 1970; nil for anything else.
    static func seconds(_ text: String) -> Int64? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[0].count == 4, words[0].hasSuffix(","), words[5] == "GMT",
            let day = number(words[1], digits: 2), let month = months.firstIndex(of: String(words[2])),
            let year = number(words[3], digits: 4)
        else { return nil }
        let time = words[4].split(separator: ":", omittingEmptySubsequences: false).compactMap { number($0, digits: 2) }
        guard time.count == 3, time[0] < 24, time[1] < 60, time[2] <= 60, (1...31).contains(day) else { return nil }
        return days(year: year, month: Int64(month) + 1, day: day) * 86_400 + time[0] * 3600 + time[1] * 60 + time[2]
    }

    private static func number(_ text: Substring, digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }

    /// Days from 1970-01-01 in the proleptic Gregorian calendar, counted in years that begin in March.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let marchMonth = month <= 2 ? month + 9 : month - 3
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        return marchYear * 365 + leapDays + (153 * marchMonth + 2) / 5 + day - 1 - 719_468
    }
}
