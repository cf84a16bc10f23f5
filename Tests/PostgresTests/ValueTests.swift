import Testing

@testable import Postgres

/// A value that goes to the server and comes back.
struct RoundTrip: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let run: @Sendable (PostgresClient) async throws -> Void

    /// - Parameter text: what the server says it received.
    static func scalar<Value: PostgresScalar & Equatable>(_ value: Value, _ text: String) -> RoundTrip {
        RoundTrip(testDescription: "\(Value.self) \(text.prefix(40))") { client in
            let row = try #require(try await client.query("SELECT \(value), (\(value))::text, \(Value?.none)").first)
            #expect(row.required(0, Value.self) == value)
            #expect(row.string(1) == text)
            #expect(row.isNull(2) && row.optional(2, Value.self) == nil)
        }
    }

    static func array<Value: PostgresScalar & Equatable>(_ value: [Value?], _ text: String) -> RoundTrip {
        RoundTrip(testDescription: "[\(Value.self)?] \(text.prefix(40))") { client in
            let whole = value.compactMap { $0 }
            let row = try #require(
                try await client.query("SELECT \(value), (\(value))::text, \(whole), \([Value?]?.none)").first)
            #expect(row.array(0, of: Value.self) == value)
            #expect(row.string(1) == text)
            #expect(row.array(2, of: Value.self) == whole)
            #expect(row.isNull(3))
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct ValueTests {
    static let scalars: [RoundTrip] = [
        .scalar(Int16.min, "-32768"), .scalar(Int16.max, "32767"),
        .scalar(Int32.min, "-2147483648"), .scalar(Int32.max, "2147483647"),
        .scalar(Int64.min, "-9223372036854775808"), .scalar(Int64.max, "9223372036854775807"), .scalar(7, "7"),
        .scalar(true, "true"), .scalar(false, "false"),
        .scalar(-0.1, "-0.1"), .scalar(Double.infinity, "Infinity"),
        .scalar("", ""), .scalar("naïve 🧭 \n\"'\\", "naïve 🧭 \n\"'\\"),
        .scalar(String(repeating: "é", count: 100_000), String(repeating: "é", count: 100_000)),
        .scalar([UInt8](), "\\x"), .scalar([UInt8]([0, 255, 92]), "\\x00ff5c"),
        .scalar(PostgresTimestamp(microseconds: 0), "1970-01-01 00:00:00+00"),
        .scalar(PostgresTimestamp(microseconds: 1_700_000_000_123_456), "2023-11-14 22:13:20.123456+00"),
        .scalar(PostgresTimestamp(microseconds: -1), "1969-12-31 23:59:59.999999+00"),
        .scalar(PostgresTimestamp(microseconds: .max), "infinity"),
        .scalar(PostgresTimestamp(microseconds: .min), "-infinity"),
        .scalar(PostgresInterval(.milliseconds(90_500)), "00:01:30.5"),
        .scalar(PostgresInterval(.seconds(-100 * 3600)), "-100:00:00"),
        .scalar(PostgresUUID("00112233-4455-6677-8899-aabbccddeeff"), "00112233-4455-6677-8899-aabbccddeeff"),
        .scalar(PostgresBits(bytes: [], count: 0), ""),
        .scalar(PostgresBits(bytes: [0b1010_0000], count: 3), "101"),
        .scalar(PostgresBits(bytes: [255, 128], count: 9), "111111111"),
        .scalar(PostgresJSON(#"{"a": [1, "é"]}"#), #"{"a": [1, "é"]}"#),
    ]

    static let arrays: [RoundTrip] = [
        .array([Int16](), "{}"), .array([Int16.min, nil, 5], "{-32768,NULL,5}"),
        .array([Int32.max, nil], "{2147483647,NULL}"), .array([nil, Int64.min], "{NULL,-9223372036854775808}"),
        .array([true, nil, false], "{t,NULL,f}"), .array([0.5, nil], "{0.5,NULL}"),
        .array(["", nil, "a,b", "é"], #"{"",NULL,"a,b",é}"#), .array([String?.none], "{NULL}"),
        .array([[UInt8]([1]), nil, []], #"{"\\x01",NULL,"\\x"}"#),
        .array([PostgresTimestamp(microseconds: 0), nil], #"{"1970-01-01 00:00:00+00",NULL}"#),
        .array([PostgresInterval(.seconds(1)), nil], "{00:00:01,NULL}"),
        .array(
            [PostgresUUID("00112233-4455-6677-8899-aabbccddeeff"), nil], "{00112233-4455-6677-8899-aabbccddeeff,NULL}"),
        .array([PostgresBits(bytes: [64], count: 2), nil], "{01,NULL}"),
        .array([PostgresJSON("{}"), nil], "{\"{}\",NULL}"),
    ]

    @Test(arguments: scalars + arrays) func `every type comes back as it went`(trip: RoundTrip) async throws {
        try await TestServer.withClient(preparedStatements: false) { client in
            // The text of an instant depends on the session's zone.
            let zone = try #require(try await client.query("SHOW TimeZone").first).string(0)
            try #require(["Etc/UTC", "UTC", "GMT"].contains(zone), "The test server's TimeZone must be UTC.")
            try await trip.run(client)
        }
    }

    @Test func `each accessor reads its type by position`() async throws {
        let rows = try await TestServer.withClient { client in
            try await client.query(
                """
                SELECT 1::int2, 2::int4, 3::int8, true, 0.5::float8, 'é'::varchar, '\\x0102'::bytea, 'epoch'::timestamptz,
                    '00112233-4455-6677-8899-AABBCCDDEEFF'::uuid, B'101'::bit(3), interval '1.5 s', '{"a": 1}'::jsonb,
                    '{"b":2}'::json, '{1,2}'::int2[], '{3}'::int4[], '{4}'::int8[], '{t}'::bool[], '{0.5}'::float8[],
                    '{a,b}'::text[], '{a,NULL}'::text[], '{"\\\\x07"}'::bytea[], NULL::int8
                """)
        }
        let row = try #require(rows.first)
        #expect(row.int16(0) == 1 && row.int32(1) == 2 && row.int64(2) == 3 && row.bool(3) && row.double(4) == 0.5)
        #expect(row.string(5) == "é" && row.bytes(6) == [1, 2] && row.timestampMicroseconds(7) == 0)
        #expect(row.uuid(8) == "00112233-4455-6677-8899-aabbccddeeff")
        #expect(row.bits(9) == (bytes: [0b1010_0000], count: 3))
        #expect(row.duration(10) == .milliseconds(1500) && row.json(11) == #"{"a": 1}"# && row.json(12) == #"{"b":2}"#)
        #expect(row.int16Array(13) == [1, 2] && row.int32Array(14) == [3] && row.int64Array(15) == [4])
        #expect(row.boolArray(16) == [true] && row.doubleArray(17) == [0.5] && row.stringArray(18) == ["a", "b"])
        #expect(row.textArray(19) == ["a", nil] && row.bytesArray(20) == [[7]])
        #expect(row.isNull(21) && row.int64OrNil(21) == nil && !row.isNull(0) && row.int64OrNil(2) == 3)
    }

    @Test(arguments: ["", "00112233-4455-6677-8899-aabbccddeef", "zz112233-4455-6677-8899-aabbccddeeff"])
    func `text that is no UUID is refused by the server as an invalid value`(text: String) async throws {
        try await TestServer.withClient { client in
            let error = await errorOf {
                try await client.query("SELECT \(PostgresUUID(text))")
            }
            #expect(error?.code == .invalidValue)
        }
    }

    @Test func `the same text with other types of parameters is another statement`() async throws {
        try await TestServer.withClient { client in
            func typeOf(_ value: some PostgresEncodable) async throws -> String? {
                try await client.query("SELECT pg_typeof(\(value))::text").first?.string(0)
            }
            let types = [
                try await typeOf(Int32(1)), try await typeOf(Int64(1)), try await typeOf("1"),
                try await typeOf(Int32(1)),
            ]
            #expect(types == ["integer", "bigint", "text", "integer"])
        }
    }

    @Test func `a statement says how many rows it affected`() async throws {
        try await TestServer.withConnection { connection in
            _ = try await connection.query("CREATE TEMPORARY TABLE numbers (n bigint)")
            let written = try await connection.query("INSERT INTO numbers SELECT generate_series(1, 5)")
            #expect(written.affected == 5 && written.isEmpty)
            let removed = try await connection.query("DELETE FROM numbers WHERE n > 3 RETURNING n")
            #expect(removed.affected == 2 && removed.count == 2)
        }
    }
}
