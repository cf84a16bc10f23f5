/// A subscriber as an import brought it, in its final form.
package struct ImportedSubscriber: Sendable, Equatable {
    package enum Environment: String, Sendable, CaseIterable { case production, sandbox }

    /// The line of the file, from 1.
    package var line: Int
    package var externalID: String
    package var userID: String?
    package var transport: TransportKind
    /// Apple's device tokens are in lower case.
    package var address: String
    /// Apple's only.
    package var environment: Environment?
    /// Web Push only: the 65 bytes of the browser's public key, uncompressed, and its 16 bytes of secret.
    package var p256dh: [UInt8]?
    package var auth: [UInt8]?
    /// Web Push only: the public key that the browser subscribed with, base64url of 65 bytes; nil = the app's newest.
    package var vapidKey: String?
    /// As the device wrote it; possibly malformed.
    package var language: String?
    /// Possibly unknown: PostgreSQL knows the zones.
    package var timeZone: String?
    /// A JSON object, as written.
    package var attributes: String
    /// Each once.
    package var tags: [String]
    package var registeredAt: Instant?
}

/// A line that was not taken, and why; quotes nothing of it.
package struct RefusedLine: Sendable, Equatable {
    package struct Reason: Sendable, Equatable {
        /// nil = the line as a whole.
        package var column: ImportColumn?
        /// A member of a JSON object that is no column.
        package var unknownMember: String?
        package var message: String

        /// Into the object that the line is, as a JSON pointer (RFC 6901); empty = it as a whole.
        package var pointer: String {
            (unknownMember ?? column?.rawValue).map { (JSONPointer.root / $0).description } ?? ""
        }
    }
    package var line: Int
    package var reasons: [Reason]
}
