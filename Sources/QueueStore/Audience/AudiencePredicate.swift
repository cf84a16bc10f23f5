import Domain
import Postgres

extension Audience {
    /// Whether the subscriber row `s` belongs to it, as one condition that is true or false, never NULL, so that `NOT`
    /// means what it says.
    ///
    /// Every value is a parameter. What a subscriber lacks matches nothing but `ne`, `not` and `exists: false`. Numbers
    /// compare with numbers, exactly; texts with texts, byte by byte; a comparison of two kinds is false, not an error.
    /// - Throws: `SegmentsRemain` if a segment was not written out before.
    func predicate() throws(SegmentsRemain) -> PostgresFragment {
        switch self {
        case .all: "true"
        case .and(let parts): "(\(try joined(parts, " AND ")))"
        case .or(let parts): "(\(try joined(parts, " OR ")))"
        case .not(let part): "NOT \(try part.predicate())"
        case .transport(let kinds): "s.transport = ANY (\(kinds.map(\.rawValue)))"
        case .platform(let names): platform(names)
        case .language(let tags): language(tags)
        case .tag(let tags): "s.tags && \(tags)"
        case .attribute(let name, let comparison): comparison.predicate(of: name)
        case .registered(let interval): interval.predicate(of: "s.registered_at")
        case .seen(let interval): interval.predicate(of: "s.seen_at")
        // A subquery is hashed however long the list; an array would be searched for each row.
        case .user(let users): "coalesce(s.user_id IN (SELECT unnest(\(users))), false)"
        case .externalID(let ids): "coalesce(s.external_id IN (SELECT unnest(\(ids))), false)"
        case .segment(let name): throw SegmentsRemain(name: name)
        }
    }

    private func joined(_ parts: [Audience], _ separator: StaticString) throws(SegmentsRemain) -> PostgresFragment {
        var fragments: [PostgresFragment] = []
        for part in parts { fragments.append(try part.predicate()) }
        return PostgresFragment(fragments, separator: separator)
    }

    /// What the app says of itself in the attribute of that name; else what its transport stands for.
    private func platform(_ names: [String]) -> PostgresFragment {
        """
        lower(coalesce(
            s.attributes ->> 'platform',
            CASE s.transport WHEN 1 THEN 'ios' WHEN 2 THEN 'android' ELSE 'web' END
        )) = ANY (\(names.map { $0.lowercased() }))
        """
    }

    /// As devices write them: any case, `_` for `-`, an encoding or modifier behind.
    private func language(_ tags: [String]) -> PostgresFragment {
        let spellings = Array(Set(tags.flatMap(LanguageTag.spellings(matching:)))).sorted()
        return """
            coalesce((
                SELECT bool_or(own.tag = asked.tag OR starts_with(own.tag, asked.tag || '-'))
                FROM (
                    SELECT replace(lower(split_part(split_part(s.language, '.', 1), '@', 1)), '_', '-') AS tag
                ) own
                CROSS JOIN unnest(\(spellings)) AS asked (tag)
            ), false)
            """
    }
}

extension Audience.Interval {
    /// - Parameter column: which may be NULL.
    fileprivate func predicate(of column: PostgresFragment) -> PostgresFragment {
        var conditions: [PostgresFragment] = []
        if let after { conditions.append("\(column) > \(after.timestamp)") }
        if let before { conditions.append("\(column) < \(before.timestamp)") }
        return "coalesce(\(PostgresFragment(conditions, separator: " AND ")), false)"
    }
}

extension Audience.Comparison {
    fileprivate func predicate(of name: String) -> PostgresFragment {
        switch self {
        case .equal(let value): "coalesce(s.attributes -> \(name) = \(PostgresJSON(value.text)), false)"
        case .notEqual(let value): "coalesce(s.attributes -> \(name) <> \(PostgresJSON(value.text)), true)"
        case .less(let value): ordered(name, "<", value)
        case .lessOrEqual(let value): ordered(name, "<=", value)
        case .greater(let value): ordered(name, ">", value)
        case .greaterOrEqual(let value): ordered(name, ">=", value)
        case .among(let values):
            "coalesce(s.attributes -> \(name) = ANY (\(values.map { PostgresJSON($0.text) })), false)"
        case .exists(let isThere):
            "(coalesce(jsonb_typeof(s.attributes -> \(name)), 'null') <> 'null') = \(isThere)"
        }
    }

    /// jsonb orders two numbers by value, exactly; two texts it would order as the database's language does.
    private func ordered(_ name: String, _ comparison: PostgresFragment, _ value: JSONValue) -> PostgresFragment {
        if case .string(let text) = value {
            return """
                coalesce(
                    jsonb_typeof(s.attributes -> \(name)) = 'string'
                        AND (s.attributes ->> \(name)) COLLATE "C" \(comparison) \(text),
                    false
                )
                """
        }
        return """
            coalesce(
                jsonb_typeof(s.attributes -> \(name)) = 'number'
                    AND (s.attributes -> \(name)) \(comparison) \(PostgresJSON(value.text)),
                false
            )
            """
    }
}

/// A segment's name stands where its audience should.
package struct SegmentsRemain: Error, CustomStringConvertible {
    package let name: String
    package var description: String { "the segment '\(name)' was not written out before the audience was compiled" }
}
