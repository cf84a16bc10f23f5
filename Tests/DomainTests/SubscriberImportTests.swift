import Foundation
import Testing

@testable import Domain

struct SubscriberImportTests {
    /// Which column each kind of bad line is refused for; nil = the line as a whole.
    private static let columns: [String: ImportColumn?] = [
        "too_few_columns": nil, "too_many_columns": nil, "invalid_utf8": nil, "transport_unknown": .transport,
        "address_empty": .address, "address_nul": .address, "external_id_empty": .externalID,
        "external_id_repeated": .externalID, "apns_not_hex": .address, "apns_odd_length": .address,
        "apns_environment_unknown": .environment, "endpoint_not_https": .address, "endpoint_ip": .address,
        "endpoint_ipv6": .address, "endpoint_port": .address, "endpoint_userinfo": .address,
        "endpoint_host_not_allowed": .address, "endpoint_too_long": .address, "p256dh_missing": .p256dh,
        "p256dh_off_curve": .p256dh, "p256dh_64_bytes": .p256dh, "p256dh_not_base64": .p256dh, "auth_15_bytes": .auth,
        "attributes_not_json": .attributes, "attributes_not_object": .attributes, "attributes_nul": .attributes,
        "registered_at_bad": .registeredAt, "blank_line_with_commas": .externalID,
    ]

    @Test(arguments: [1, 7, 4096, 1 << 20])
    func `exactly the bad lines are refused, each for its own column`(chunkSize: Int) throws {
        let report = String(decoding: try Fixtures.bytes("subscribers.bad"), as: UTF8.self)
        let bad = report.split(separator: "\n").map { $0.split(separator: "\t").map { String($0) } }
        let kinds = Dictionary(uniqueKeysWithValues: bad.map { (Int($0[0]), $0[1]) })
        let (subscribers, refused) = try run(.csv, try Fixtures.bytes("subscribers.csv"), chunkSize: chunkSize)
        #expect(subscribers.count == 100)
        #expect(refused.map(\.line) == bad.map { Int($0[0]) })
        for line in refused {
            let kind = try #require(kinds[line.line])
            let column = try #require(Self.columns[kind], "\(kind)")
            #expect(line.reasons.contains { $0.column == column }, "\(kind): \(line)")
            if column == nil { #expect(line.reasons.count == 1) }
        }
    }

    @Test func `both formats give the same subscribers`() throws {
        let (fromCSV, _) = try run(.csv, try Fixtures.bytes("subscribers.csv"))
        var lines: [UInt8] = []
        for subscriber in fromCSV { lines += Array(jsonLine(subscriber).utf8) }
        let (fromJSON, refused) = try run(.jsonLines, lines, chunkSize: 100)
        #expect(refused.isEmpty)
        #expect(fromJSON.map(\.withoutLine) == fromCSV.map(\.withoutLine))
        #expect(fromJSON.map(\.line) == Array(1...fromCSV.count))
    }

    @Test func `a row becomes a subscriber in its final form`() throws {
        let csv = """
            tags,address,registered_at,external_id,transport,language,attributes\r
            b;a;;b,\(String(repeating: "AB", count: 32)),2026-05-29T15:55:21+02:00,s-1,apns,zh_Hant,"{""n"":\n""a,b""}"\r

            """
        let (subscribers, refused) = try run(.csv, Array(csv.utf8))
        #expect(refused.isEmpty)
        #expect(
            subscribers == [
                ImportedSubscriber(
                    line: 2, externalID: "s-1", userID: nil, transport: .apns,
                    address: String(repeating: "ab", count: 32), environment: .production, p256dh: nil, auth: nil,
                    language: "zh_Hant", timeZone: nil, attributes: "{\"n\":\n\"a,b\"}", tags: ["b", "a"],
                    registeredAt: Instant(rfc3339: "2026-05-29T13:55:21Z"))
            ])
    }

    @Test(arguments: [
        ("external_id,transport,adress,colour\n", "Unknown columns: adress, colour."),
        ("external_id,transport\n", "The header lacks these columns: address."),
        ("external_id,transport,address,address\n", "The header names a column twice."),
        ("\"external_id\n", "A quote is not closed"),
    ])
    func `a header that cannot be followed ends the import`(csv: String, message: String) {
        let fault = #expect(throws: SubscriberImport.HeaderFault.self) { try run(.csv, Array(csv.utf8)) }
        #expect(fault?.message.hasPrefix(message) == true, "\(fault?.message ?? "")")
    }

    @Test(arguments: [
        ("{\"external_id\":\"a\",\"transport\":\"fcm\",\"address\":\"t\",\"tags\":\"x;y\",\"user_id\":null}", true),
        ("{\"external_id\":\"a\",\"transport\":\"fcm\",\"address\":\"t\",\"colour\":\"x\"}", false),
        ("{\"external_id\":7,\"transport\":\"fcm\",\"address\":\"t\"}", false),
        ("{\"external_id\":\"a\",\"transport\":\"fcm\",\"address\":\"t\",\"attributes\":\"{}\"}", false),
        ("{\"external_id\":\"a\",\"transport\":\"fcm\",\"address\":\"t\",\"tags\":[1]}", false),
        ("{\"external_id\":\"a\",\"external_id\":\"b\",\"transport\":\"fcm\",\"address\":\"t\"}", false),
        ("{\"external_id\":\"a\\u0000\",\"transport\":\"fcm\",\"address\":\"t\"}", false),
        ("[\"a\"]", false), ("{", false),
    ])
    func `a JSON line is one object of known members`(line: String, isTaken: Bool) throws {
        let (subscribers, refused) = try run(.jsonLines, Array(("\n" + line).utf8))
        #expect(subscribers.isEmpty == !isTaken)
        #expect(refused.map(\.line) == (isTaken ? [] : [2]))
    }

    // MARK: - Running an import

    private func run(
        _ format: SubscriberImport.Format, _ bytes: [UInt8], chunkSize: Int = 1 << 16
    ) throws -> (subscribers: [ImportedSubscriber], refused: [RefusedLine]) {
        let points = try Set(Fixtures.decode("subscriber-keys.json", as: Keys.self).keys.map(\.p256dh))
        let check = SubscriberCheck { point in
            let text = Data(point).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            return points.contains(
                text.replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: ""))
        }
        var run = SubscriberImport(format: format, check: check)
        var (subscribers, refused): ([ImportedSubscriber], [RefusedLine]) = ([], [])
        func drain() throws {
            while let item = try run.next() {
                switch item {
                case .subscriber(let subscriber): subscribers.append(subscriber)
                case .refused(let line): refused.append(line)
                }
            }
        }
        for start in stride(from: 0, to: bytes.count, by: chunkSize) {
            run.feed(Array(bytes[start..<min(start + chunkSize, bytes.count)]))
            try drain()
        }
        run.finish()
        try drain()
        return (subscribers, refused)
    }

    private struct Keys: Decodable {
        struct Key: Decodable { var p256dh: String }
        var keys: [Key]
    }

    private func jsonLine(_ subscriber: ImportedSubscriber) -> String {
        func quoted(_ text: String) -> String {
            "\"" + String(decoding: JSONBytes.escaped(text, .json), as: UTF8.self) + "\""
        }
        var members = [
            "\"external_id\":\(quoted(subscriber.externalID))", "\"transport\":\(quoted(subscriber.transport.name))",
            "\"address\":\(quoted(subscriber.address))", "\"attributes\":\(subscriber.attributes)",
            "\"tags\":[\(subscriber.tags.map(quoted).joined(separator: ","))]",
        ]
        let optional: [(String, String?)] = [
            ("user_id", subscriber.userID), ("environment", subscriber.environment?.rawValue),
            ("p256dh", subscriber.p256dh.map { Data($0).base64EncodedString() }),
            ("auth", subscriber.auth.map { Data($0).base64EncodedString() }), ("language", subscriber.language),
            ("time_zone", subscriber.timeZone), ("registered_at", subscriber.registeredAt?.rfc3339),
        ]
        for case (let name, let value?) in optional { members.append("\"\(name)\":\(quoted(value))") }
        return "{" + members.joined(separator: ", ") + "}\r\n"
    }
}

extension ImportedSubscriber {
    fileprivate var withoutLine: Self {
        var copy = self
        copy.line = 0
        return copy
    }
}
