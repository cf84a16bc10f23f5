import Domain
import Postgres

package struct SegmentRecord: Sendable, Encodable {
    package let name: String
    /// As JSON.
    package let audience: String
    package let changedAt: String
}

extension AdminStore {
    /// Stores an audience under a name, or changes the one that is there. Runs that exist keep what it was.
    /// - Throws: `AdminError` if it stands on a segment that is unknown, or on itself.
    package func setSegment(_ name: String, app appName: String, to audience: Audience) async throws {
        let app = try await appID(appName)
        var seen: Set<String> = []
        var open = audience.segments
        while let next = open.popFirst() {
            if next == name { throw AdminError("audience: the segment '\(name)' would stand on itself") }
            guard seen.insert(next).inserted else { continue }
            open.formUnion(try await segment(next, of: app).segments)
        }
        _ = try await client.query(
            """
            INSERT INTO pushfleet.segment (app_id, name, audience)
            VALUES (\(app.rawValue), \(name), \(PostgresJSON(audience.json.text)))
            ON CONFLICT (app_id, name) DO UPDATE SET audience = excluded.audience, changed_at = now()
            """)
    }

    package func segments(app: String) async throws -> [SegmentRecord] {
        let app = try await appID(app)
        return try await client.query(
            """
            SELECT name, audience, to_char(changed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            FROM pushfleet.segment
            WHERE app_id = \(app.rawValue)
            ORDER BY name
            """
        ).map { SegmentRecord(name: $0.string(0), audience: $0.json(1), changedAt: $0.string(2)) }
    }

    /// - Returns: false if there is none of that name. Runs that exist keep what it was.
    /// - Throws: `AdminError` that names the segments that stand on it.
    package func deleteSegment(_ name: String, app appName: String) async throws -> Bool {
        let standing = try await segments(app: appName).filter { segment in
            try Audience(storedJSON: segment.audience).segments.contains(name)
        }.map { "'\($0.name)'" }
        guard standing.isEmpty else {
            throw AdminError(
                "segment: \(standing.joined(separator: ", ")) would stand on nothing without '\(name)'; first change or "
                    + "delete what stands on it")
        }
        let app = try await appID(appName)
        return try await client.query(
            "DELETE FROM pushfleet.segment WHERE app_id = \(app.rawValue) AND name = \(name)"
        ).affected == 1
    }

    /// The audience with every segment written out, as they are now.
    package func writtenOut(_ audience: Audience, app: App.ID) async throws -> Audience {
        try await writtenOut(audience, app: app, within: [])
    }

    private func writtenOut(_ audience: Audience, app: App.ID, within: Set<String>) async throws -> Audience {
        var known: [String: Audience] = [:]
        for name in audience.segments {
            guard !within.contains(name) else {
                throw AdminError("audience: the segment '\(name)' stands on itself; change it: pushfleet segment set")
            }
            let audience = try await writtenOut(
                try await segment(name, of: app), app: app, within: within.union([name]))
            known[name] = audience
        }
        return audience.writingOut(known)
    }

    private func segment(_ name: String, of app: App.ID) async throws -> Audience {
        let rows = try await client.query(
            "SELECT audience FROM pushfleet.segment WHERE app_id = \(app.rawValue) AND name = \(name)")
        guard let row = rows.first else {
            throw AdminError("audience: there is no segment '\(name)'; create it: pushfleet segment set")
        }
        return try Audience(storedJSON: row.json(0))
    }
}
