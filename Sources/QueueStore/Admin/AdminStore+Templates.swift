import Domain
import Postgres

package struct TemplateRecord: Sendable, Encodable {
    package let name: String
    package let version: Int32
    package let createdAt: String
    package let languages: [String]
    package let isSilent: Bool
}

/// A version of a stored message.
package struct StoredTemplate: Sendable {
    package let id: Int64
    package let version: Int32
    package let messageJSON: String
}

extension AdminStore {
    /// Stores a message under a name: the next version, or the newest one when it says the same.
    /// - Parameter json: of a message that is strictly valid.
    package func saveTemplate(app: String, name: String, json: String) async throws -> StoredTemplate {
        let id = try await appID(app).rawValue
        return try await client.withTransaction { connection in
            // Two savers at once get two numbers.
            _ = try await connection.query("SELECT id FROM pushfleet.app WHERE id = \(id) FOR NO KEY UPDATE")
            let rows = try await connection.query(
                """
                WITH newest AS (
                    SELECT id, version, message
                    FROM pushfleet.template
                    WHERE app_id = \(id) AND name = \(name)
                    ORDER BY version DESC
                    LIMIT 1
                ),
                saved AS (
                    INSERT INTO pushfleet.template (app_id, name, version, message)
                    SELECT \(id), \(name), coalesce((SELECT version FROM newest), 0) + 1, \(PostgresJSON(json))
                    WHERE NOT EXISTS (SELECT FROM newest WHERE newest.message = \(PostgresJSON(json)))
                    RETURNING id, version, message
                )
                SELECT id, version, message FROM saved
                UNION ALL
                SELECT id, version, message FROM newest WHERE NOT EXISTS (SELECT FROM saved)
                """)
            return StoredTemplate(id: rows[0].int64(0), version: rows[0].int32(1), messageJSON: rows[0].json(2))
        }
    }

    /// - Parameter version: nil = the newest.
    /// - Returns: nil where there is no such version.
    package func template(app: String, name: String, version: Int32?) async throws -> StoredTemplate? {
        try await template(app: appID(app), name: name, version: version)
    }

    func template(app: App.ID, name: String, version: Int32?) async throws -> StoredTemplate? {
        let rows = try await client.query(
            """
            SELECT id, version, message
            FROM pushfleet.template
            WHERE app_id = \(app.rawValue) AND name = \(name)
                AND (\(version)::int IS NULL OR version = \(version))
            ORDER BY version DESC
            LIMIT 1
            """)
        return rows.first.map {
            StoredTemplate(id: $0.int64(0), version: $0.int32(1), messageJSON: $0.json(2))
        }
    }

    package func templates(app: String) async throws -> [TemplateRecord] {
        let id = try await appID(app).rawValue
        let rows = try await client.query(
            """
            SELECT name, version, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                ARRAY(
                    SELECT key
                    FROM jsonb_object_keys(coalesce(message -> 'content', '{}')) AS key
                    WHERE key <> '_default'
                    ORDER BY key
                ),
                coalesce(message -> 'silent' = 'true', false)
            FROM pushfleet.template
            WHERE app_id = \(id)
            ORDER BY name, version DESC
            """)
        return rows.map { row in
            TemplateRecord(
                name: row.string(0), version: row.int32(1), createdAt: row.string(2),
                languages: row.textArray(3).compactMap(\.self), isSilent: row.bool(4))
        }
    }

    /// The campaign with the newest version of the template that it names in the template's place.
    /// - Throws: `ContentProblems` with `template_unknown`.
    package func resolvingTemplate(of file: CampaignFile) async throws -> CampaignFile {
        try await resolvingTemplate(of: file, app: appID(file.app)).file
    }

    func resolvingTemplate(of file: CampaignFile, app: App.ID) async throws -> (file: CampaignFile, template: Int64?) {
        var file = file
        var template: Int64?
        if case .template(let name)? = file.message {
            let stored = try await stored(name, app: app, at: "/message/template")
            file.message = .inline(try Message.decode(stored.messageJSON))
            file.messageJSON = stored.messageJSON
            template = stored.id
        }
        for index in file.variants.indices {
            guard case .template(let name)? = file.variants[index].message else { continue }
            let stored = try await stored(name, app: app, at: "/variants/\(index)/message/template")
            file.variants[index].message = .inline(try Message.decode(stored.messageJSON))
            file.variants[index].messageJSON = stored.messageJSON
        }
        return (file, template)
    }

    private func stored(_ name: String, app: App.ID, at pointer: String) async throws -> StoredTemplate {
        if let stored = try await template(app: app, name: name, version: nil) { return stored }
        throw ContentProblems([
            Problem(
                pointer: pointer, code: ProblemCode.templateUnknown.rawValue,
                message: "The app has no template of this name.",
                remedy: "Save it first: pushfleet template save; see: pushfleet template list.")
        ])
    }
}
