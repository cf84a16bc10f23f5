import Domain
import Postgres

/// What an operator asks for: apps, credentials, subscribers, campaigns, and how their runs stand.
package struct AdminStore: Sendable {
    let client: PostgresClient

    package init(_ client: PostgresClient) { self.client = client }
}

/// Why a request of an operator was refused, and what mends it.
package struct AdminError: Error, CustomStringConvertible {
    package enum Code: String, Sendable, CaseIterable {
        case unknownApp
        case unknownCredential
        /// The idempotency key was used with another body.
        case keyTaken
        /// The campaign asks for what cannot be carried out yet.
        case unsupported
    }

    package let code: Code
    package let message: String
    package let remedy: String

    init(_ code: Code, _ message: String, remedy: String) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    package var description: String { "\(message); \(remedy)" }

    static func unknownApp(_ name: String) -> Self {
        AdminError(.unknownApp, "app: there is no '\(name)'", remedy: "see: pushfleet app list")
    }
}

/// An instant as RFC 3339 text in UTC, which is how SQL gives it to people.
enum InstantText {
    static let format = #"YYYY-MM-DD"T"HH24:MI:SS"Z""#
}
