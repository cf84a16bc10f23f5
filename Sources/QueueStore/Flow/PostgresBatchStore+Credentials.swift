import Domain
import FoundationEssentials
import Postgres

extension PostgresBatchStore {
    package func pause(credential: Credential.ID, fault: CredentialFault) async throws {
        _ = try await claims.query(.pause(credential: credential, fault: fault), deadline: .seconds(5))
    }

    package func pausedCredentials() async throws -> [CredentialReference] {
        try await claims.query(.pausedCredentials, deadline: .seconds(5)).map {
            try CredentialReference($0, from: 0)
        }
    }

    package func mend(_ credential: CredentialReference) async throws -> Bool {
        try await claims.query(.mend(credential), deadline: .seconds(5)).count == 1
    }
}

extension PostgresQuery {
    /// One statement, so that no claim sees a credential paused and one of its routes open. The first fault stays. A
    /// route whose breaker is open waits for the credential from now on.
    ///
    /// A credential that was mended meanwhile has another revision: what an answer under way says of the file before must
    /// not pause it again, least of all with the good file's fingerprint, which would last until that changed.
    static func pause(credential: Credential.ID, fault: CredentialFault) -> PostgresQuery {
        """
        WITH faulty AS MATERIALIZED (
            SELECT credential.id
            FROM pushfleet.credential
            WHERE credential.id = \(credential.rawValue)
                AND credential.revision = coalesce(\(fault.revision)::int, credential.revision)
            FOR NO KEY UPDATE
        ),
        paused AS (
            UPDATE pushfleet.credential
            SET state = 1, state_reason = \(fault.reason.rawValue), state_since = now(), state_detail = \(fault.detail),
                fault_fingerprint = \(fault.fingerprint)
            FROM faulty
            WHERE credential.id = faulty.id AND credential.state = 0
        )
        UPDATE pushfleet.route
        SET state = 1, paused_reason = \(fault.reason.rawValue), paused_at = now(), reopen_at = NULL
        FROM faulty
        WHERE route.credential_id = faulty.id AND (route.state = 0 OR route.reopen_at IS NOT NULL)
        """
    }

    static let pausedCredentials: PostgresQuery = """
        SELECT credential.id, credential.app_id, credential.name, credential.transport, credential.file,
            credential.endpoint, credential.revision, credential.fault_fingerprint, credential.facts::text, NULL::text
        FROM pushfleet.credential
        WHERE credential.state = 1
        ORDER BY credential.id
        """

    /// The fault's fingerprint stays: a worker whose machine still has the old file leaves the work to others.
    static func mend(_ credential: CredentialReference) -> PostgresQuery {
        """
        WITH mended AS (
            UPDATE pushfleet.credential
            SET state = 0, state_reason = 0, state_since = now(), state_detail = NULL,
                revision = credential.revision + 1
            WHERE credential.id = \(credential.id.rawValue)
                AND credential.state = 1
                AND credential.revision = \(credential.revision)
            RETURNING credential.id
        ),
        opened AS (
            UPDATE pushfleet.route
            SET state = 0, paused_reason = NULL, paused_at = NULL, reopen_at = NULL, trips = 0
            FROM mended
            WHERE route.credential_id = mended.id AND route.state = 1
        )
        SELECT mended.id FROM mended
        """
    }
}

extension CredentialReference {
    /// - Parameter column: of its id; the others follow in the order of `pausedCredentials`.
    init(_ row: PostgresRow, from column: Int) throws {
        self.init(
            id: Credential.ID(row.int64(column)), app: App.ID(row.int64(column + 1)), name: row.string(column + 2),
            transport: try stored(row.int16(column + 3), "credential.transport"), file: row.string(column + 4),
            endpoint: row.stringOrNil(column + 5), facts: try Self.decoded(row.string(column + 8)),
            others: try row.stringOrNil(column + 9).map { try Self.decoded($0, as: [StoredKey].self) }?.map(\.value)
                ?? []
        )
        revision = row.int32(column + 6)
        faultFingerprint = row.isNull(column + 7) ? nil : row.bytes(column + 7)
    }

    /// Another key of the app, as the query writes it.
    private struct StoredKey: Decodable {
        let id: Int64
        let file: String
        let facts: [String: String]

        var value: CredentialReference.OtherKey {
            CredentialReference.OtherKey(id: Credential.ID(id), file: file, facts: facts)
        }
    }

    private static func decoded<Value: Decodable>(_ text: String, as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
