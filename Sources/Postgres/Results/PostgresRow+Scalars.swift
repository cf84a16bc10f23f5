extension PostgresRow {
    package func int16(_ column: Int) -> Int16 { required(column, Int16.self) }
    package func int16OrNil(_ column: Int) -> Int16? { optional(column, Int16.self) }

    package func int32(_ column: Int) -> Int32 { required(column, Int32.self) }
    package func int32OrNil(_ column: Int) -> Int32? { optional(column, Int32.self) }

    package func int64(_ column: Int) -> Int64 { required(column, Int64.self) }
    package func int64OrNil(_ column: Int) -> Int64? { optional(column, Int64.self) }

    package func bool(_ column: Int) -> Bool { required(column, Bool.self) }
    package func boolOrNil(_ column: Int) -> Bool? { optional(column, Bool.self) }

    package func double(_ column: Int) -> Double { required(column, Double.self) }
    package func doubleOrNil(_ column: Int) -> Double? { optional(column, Double.self) }

    /// Of `text`, `varchar`, `name` and enumerations. For `json` and `jsonb` there is `json`.
    package func string(_ column: Int) -> String { required(column, String.self) }
    package func stringOrNil(_ column: Int) -> String? { optional(column, String.self) }

    /// Of `bytea`.
    package func bytes(_ column: Int) -> [UInt8] { required(column, [UInt8].self) }
    package func bytesOrNil(_ column: Int) -> [UInt8]? { optional(column, [UInt8].self) }

    /// Of `timestamptz`: since 1970-01-01 00:00 UTC. `Int64.max` is `infinity`, `Int64.min` is `-infinity`.
    package func timestampMicroseconds(_ column: Int) -> Int64 { required(column, PostgresTimestamp.self).microseconds }
    package func timestampMicrosecondsOrNil(_ column: Int) -> Int64? {
        optional(column, PostgresTimestamp.self)?.microseconds
    }

    /// In lower case, 8-4-4-4-12.
    package func uuid(_ column: Int) -> String { required(column, PostgresUUID.self).text }
    package func uuidOrNil(_ column: Int) -> String? { optional(column, PostgresUUID.self)?.text }

    /// Of `bit` and `bit varying`: the first bit is the highest of the first byte, `count` is in bits.
    package func bits(_ column: Int) -> (bytes: [UInt8], count: Int) {
        let bits = required(column, PostgresBits.self)
        return (bits.bytes, bits.count)
    }
    package func bitsOrNil(_ column: Int) -> (bytes: [UInt8], count: Int)? {
        optional(column, PostgresBits.self).map { ($0.bytes, $0.count) }
    }

    /// Of an `interval` without days and months.
    package func duration(_ column: Int) -> Duration {
        .microseconds(required(column, PostgresInterval.self).microseconds)
    }
    package func durationOrNil(_ column: Int) -> Duration? {
        optional(column, PostgresInterval.self).map { .microseconds($0.microseconds) }
    }

    /// The text of `json` or `jsonb`.
    package func json(_ column: Int) -> String {
        guard let text = jsonOrNil(column) else { preconditionFailure(unexpectedNull(column)) }
        return text
    }
    package func jsonOrNil(_ column: Int) -> String? {
        isReadable(column, as: TypeOID.jsonb)
            ? optional(column, PostgresJSON.self)?.text : optional(column, String.self)
    }
}
