/// A statement and its parameters. Values enter only by interpolation, which binds `$1`, `$2`, …; the text itself is
/// always a literal of the program. Mirrors the call sites of postgres-nio 1.x.
package struct PostgresQuery: ExpressibleByStringInterpolation, Sendable {
    package var sql: String
    package var parameters: [PostgresParameter]

    package init(stringLiteral value: String) {
        sql = value
        parameters = []
    }

    package init(stringInterpolation interpolation: StringInterpolation) {
        sql = interpolation.sql
        parameters = interpolation.parameters
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        var sql: String
        var parameters: [PostgresParameter] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            sql = ""
            sql.reserveCapacity(literalCapacity + interpolationCount * 3)
            parameters.reserveCapacity(interpolationCount)
        }

        package mutating func appendLiteral(_ literal: String) { sql += literal }

        package mutating func appendInterpolation(_ value: some PostgresEncodable) {
            parameters.append(value.parameter)
            sql += "$\(parameters.count)"
        }

        /// nil is NULL. An overload of its own: to the compiler an optional that meets a generic parameter in an
        /// interpolation is a mistake.
        package mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value?) {
            parameters.append(value.parameter)
            sql += "$\(parameters.count)"
        }

        /// Program text that is no value, such as the name of a partition. Never anything that came from outside.
        package mutating func appendInterpolation(unescaped text: String) { sql += text }
    }
}

/// One bound value in PostgreSQL's binary format.
package struct PostgresParameter: Sendable {
    /// nil = NULL.
    package var bytes: [UInt8]?
    package var oid: UInt32
    package init(bytes: [UInt8]?, oid: UInt32) {
        self.bytes = bytes
        self.oid = oid
    }
}

/// A Swift value that can be bound to a parameter.
package protocol PostgresEncodable: Sendable {
    /// Of the type that a value has in PostgreSQL, which NULL has too.
    static var oid: UInt32 { get }
    var parameter: PostgresParameter { get }
}
