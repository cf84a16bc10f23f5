/// Part of a statement with its parameters, for what cannot be a literal because its shape is data, such as a condition
/// of any depth. As in a `PostgresQuery`, values enter by interpolation, which binds them, and text is a literal of the
/// program. Parameters are numbered where the fragment is put into a query.
package struct PostgresFragment: ExpressibleByStringInterpolation, Sendable {
    enum Piece: Sendable {
        case text(String)
        case parameter(PostgresParameter)
    }

    private(set) var pieces: [Piece]

    package init(stringLiteral value: String) { pieces = [.text(value)] }

    package init(stringInterpolation interpolation: StringInterpolation) { pieces = interpolation.pieces }

    /// The fragments with a literal between each two.
    package init(_ fragments: [PostgresFragment], separator: StaticString) {
        pieces = []
        for (index, fragment) in fragments.enumerated() {
            if index > 0 { pieces.append(.text("\(separator)")) }
            pieces += fragment.pieces
        }
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        var pieces: [Piece] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            pieces.reserveCapacity(interpolationCount * 2 + 1)
        }

        package mutating func appendLiteral(_ literal: String) {
            if !literal.isEmpty { pieces.append(.text(literal)) }
        }

        package mutating func appendInterpolation(_ value: some PostgresEncodable) {
            pieces.append(.parameter(value.parameter))
        }

        package mutating func appendInterpolation(_ fragment: PostgresFragment) { pieces += fragment.pieces }
    }
}

extension PostgresQuery.StringInterpolation {
    package mutating func appendInterpolation(_ fragment: PostgresFragment) {
        for piece in fragment.pieces {
            switch piece {
            case .text(let text): sql += text
            case .parameter(let parameter):
                parameters.append(parameter)
                sql += "$\(parameters.count)"
            }
        }
    }
}
