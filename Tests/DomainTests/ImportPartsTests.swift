import Testing

@testable import Domain

struct InstantTextTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2031-03-01T06:30:00Z", 1_930_113_000_000_000),
            ("2000-02-29T23:59:59.123456789Z", 951_868_799_123_456), ("1969-12-31T23:59:59.5Z", -500_000),
            ("2026-05-29T15:55:21+02:00", 1_780_062_921_000_000), ("2026-05-29t13:55:21z", 1_780_062_921_000_000),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
        ] as [(String, Int64)])
    func `an instant is read to the microsecond`(text: String, microseconds: Int64) throws {
        let instant = try #require(Instant(rfc3339: text))
        #expect(instant.microseconds == microseconds)
        #expect(Instant(rfc3339: instant.rfc3339) == instant)
    }

    @Test(arguments: [
        "yesterday", "1774000000", "2026-02-30T00:00:00Z", "2100-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00", "2026-01-01 00:00:00Z",
        "2026-01-01T00:00Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00Z ", "",
    ])
    func `what is no instant is refused`(text: String) {
        #expect(Instant(rfc3339: text) == nil)
    }

    @Test(arguments: ["1896-01-01", "1996-01-01", "2096-01-01"])
    func `a day's midnight follows the one before, also over leap years`(first: String) throws {
        var day = try #require(Instant(rfc3339: first + "T00:00:00Z"))
        for _ in 0..<3000 {
            let next = day + .seconds(86_400)
            try #require(Instant(rfc3339: next.rfc3339) == next)
            try #require(next.rfc3339.hasSuffix("T00:00:00.000000Z"))
            day = next
        }
        #expect(day.rfc3339.prefix(4) == "\(try #require(Int(first.prefix(4))) + 8)")
    }
}

struct EndpointPolicyTests {
    @Test(arguments: [
        "https://fcm.googleapis.com/fcm/send/a", "https://updates.push.services.mozilla.com/wpush/v2/a",
        "https://web.push.apple.com/Q", "https://wns2-db5p.notify.windows.com/w/?token=BQ",
        "HTTPS://FCM.googleapis.com./a", "https://fcm.googleapis.com:443/a",
    ])
    func `a push service's endpoint is allowed`(endpoint: String) {
        #expect(EndpointPolicy().fault(in: endpoint) == nil)
    }

    @Test(arguments: [
        "http://fcm.googleapis.com/a", "https://169.254.169.254/latest", "https://[::1]/p", "https://2130706433/",
        "https://0x7f.1/", "https://0177.0.0.1/", "https://fcm.googleapis.com:8443/a",
        "https://fcm.googleapis.com@evil.example/p", "https://fcm.googleapis.com.evil.example/p",
        "https://evil.example\\.push.apple.com/", "https://push.apple.com/", "https://xnotify.windows.com/",
        "https://fcm.googleapis.com/a#b", "https:///a", "https://fcm.googleapis.com/a b", "https://a..push.apple.com/",
        "https://fcm.googleapis.com/é", "ftp://fcm.googleapis.com/", "",
    ])
    func `anything else is refused`(endpoint: String) {
        #expect(EndpointPolicy().fault(in: endpoint) != nil)
    }

    @Test func `a service of one's own needs the setting`() {
        let policy = EndpointPolicy(hosts: ["localhost"], allowsPrivate: true)
        #expect(policy.fault(in: "https://localhost:8443/push/a") == nil)
        #expect(policy.fault(in: "https://127.0.0.1:8443/push/a") == nil)
        #expect(policy.fault(in: "https://example.com/") != nil)
        #expect(policy.fault(in: "http://localhost/") != nil)
        #expect(EndpointPolicy(hosts: nil).fault(in: "https://push.example.com/") == nil)
        #expect(EndpointPolicy(hosts: nil).fault(in: "https://10.0.0.1/") != nil)
    }
}

struct CopyTextRowTests {
    @Test func `values are written as COPY reads them`() {
        var row = CopyTextRow()
        var rows: [UInt8] = []
        row.append("a\tb\\c\nd\re")
        row.append(nil as String?)
        row.append(-7 as Int64?)
        row.append(Instant(microseconds: 1_500_000))
        row.append([0, 255] as [UInt8]?)
        row.append(["x", "a,\"b\"\\", "", "NULL"])
        row.end(into: &rows)
        row.append("")
        row.end(into: &rows)
        let expected =
            #"a\tb\\c\nd\re"# + "\t\\N\t-7\t1970-01-01T00:00:01.500000Z\t" + #"\\x00ff"# + "\t"
            + #"{"x","a,\\"b\\"\\\\","","NULL"}"# + "\n\n"
        #expect(String(decoding: rows, as: UTF8.self) == expected)
    }
}
