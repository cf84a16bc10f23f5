import Testing

@testable import Transports

@Suite struct ProviderDelayTests {
    @Test(
        arguments: [
            ("0", 0), ("45", 45), (" 90 ", 90), ("99999999999999999999999", 2_419_200), ("2419201", 2_419_200),
            ("soon", nil), ("-1", nil), ("1.5", nil), ("", nil), ("+5", nil), ("٣", nil),
        ] as [(String, Int?)])
    func `Retry-After is read as seconds`(text: String, seconds: Int?) {
        let delay = ProviderDelay.parse(retryAfter: text, date: nil, now: 0)
        #expect(delay == seconds.map { .seconds($0) })
    }

    @Test(
        arguments: [
            ("Mon, 02 Mar 2026 08:02:00 GMT", "Mon, 02 Mar 2026 08:00:00 GMT", 120),
            ("Mon, 02 Mar 2026 08:02:00 GMT", "Mon, 02 Mar 2026 09:00:00 GMT", 0),
            ("Fri, 01 Jan 2038 00:00:00 GMT", "Mon, 02 Mar 2026 08:00:00 GMT", 2_419_200),
            ("Mon, 02 Mar 2026 08:02:00 GMT", nil, 20), ("Mon, 02 Mar 2026 08:02:00 GMT", "yesterday", 20),
            ("Monday, 02-Mar-26 08:02:00 GMT", nil, nil), ("Mon, 02 Mar 2026 08:02:00 CET", nil, nil),
            ("Mon, 02 Mai 2026 08:02:00 GMT", nil, nil), ("Mon, 02 Mar 2026 25:02:00 GMT", nil, nil),
        ] as [(String, String?, Int?)])
    func `Retry-After as a date counts from the answer's own date`(text: String, date: String?, seconds: Int?) {
        // 20 s before 08:02:00 on 2 March 2026.
        let delay = ProviderDelay.parse(
            retryAfter: text, date: date, now: 1_772_438_500)
        #expect(delay == seconds.map { .seconds($0) })
    }

    /// By an independent calendar.
    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
    ])
    func `a date gives its seconds`(text: String, seconds: Int64) {
        #expect(HTTPDate.seconds(text) == seconds)
    }

    @Test(
        arguments: [
            ("30s", 30), ("1.5s", 2), ("3.000s", 3), ("0s", 0), ("30", nil), ("s", nil), ("1.xs", nil), ("-3s", nil),
        ] as [(String, Int?)])
    func `a duration of protocol buffers is rounded up`(text: String, seconds: Int?) {
        #expect(ProviderDelay.parse(durationText: text) == seconds.map { .seconds($0) })
    }
}
