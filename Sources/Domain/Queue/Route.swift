/// A way out: app, transport, credential and, for Web Push, the push service. Pause, breaker and rate belong to it.
package struct Route: Sendable {
    package typealias ID = Identifier<Route>
    package var id: ID
    package var app: App.ID
    package var transport: TransportKind
    package var service: Int16
    package var state: RouteState
    package var credential: CredentialReference
    /// Before the second attempt, unjittered.
    package var backoff = Duration.seconds(2)
    /// Its breaker was open and nobody knows yet whether it works again.
    package var isOnTrial = false

    package init(
        id: ID, app: App.ID, transport: TransportKind, service: Int16, state: RouteState,
        credential: CredentialReference
    ) {
        self.id = id
        self.app = app
        self.transport = transport
        self.service = service
        self.state = state
        self.credential = credential
    }
}

/// Where a credential's secret lies, and what may be known of it. The database holds no secret.
package struct CredentialReference: Sendable, Hashable {
    package var id: Credential.ID
    package var app: App.ID
    package var name: String
    package var transport: TransportKind
    /// A file on the worker's machine that holds the secret.
    package var file: String
    /// `https://host:port` in place of the provider's own; nil = the provider's.
    package var endpoint: String?
    /// What may be known of it.
    package var facts: [String: String]
    /// Web Push: the app's other keys, for the subscriptions that were made for them.
    package var others: [OtherKey]

    /// A key beside the route's own.
    package struct OtherKey: Sendable, Hashable {
        package var id: Credential.ID
        package var file: String
        package var facts: [String: String]

        package init(id: Credential.ID, file: String, facts: [String: String]) {
            self.id = id
            self.file = file
            self.facts = facts
        }
    }
    /// Raised each time that it opens again: its file must be read anew.
    package var revision: Int32 = 1
    /// Of a file that proved useless, empty for a missing one; nil = none did.
    package var faultFingerprint: [UInt8]?

    package init(
        id: Credential.ID, app: App.ID, name: String, transport: TransportKind, file: String, endpoint: String?,
        facts: [String: String] = [:], others: [OtherKey] = []
    ) {
        self.id = id
        self.app = app
        self.name = name
        self.transport = transport
        self.file = file
        self.endpoint = endpoint
        self.facts = facts
        self.others = others
    }
}
