/// What an answer says of the address that it was sent to, whatever became of the job. Raw values stand in SQL.
package enum AddressEvidence: Int16, CaseIterable, Sendable {
    /// The provider says that it is dead.
    case gone = 1
    /// It belongs to another project or key.
    case foreign = 2
    /// Something is wrong with it that one answer does not prove.
    case suspicious = 3
    /// It works.
    case sound = 4
}

/// Evidence of one answer, with all that a later judgement compares: tokens move on it alone, never on outcomes.
package struct AddressAnswer: Sendable {
    package var subscriber: Subscriber.ID
    /// Of the address that was used: another one in its place is not touched.
    package var addressVersion: Int32
    package var evidence: AddressEvidence
    package var reason: Reason
    package var status: Int16?
    /// `gone`: since when, by the provider's clock, else when the request began. An address that registered then or
    /// later stays; nil = the version alone decides.
    package var goneSince: Instant?
    package var run: Run.ID
    package var credential: Credential.ID

    package init(
        subscriber: Subscriber.ID, addressVersion: Int32, evidence: AddressEvidence, reason: Reason, status: Int16?,
        goneSince: Instant?, run: Run.ID, credential: Credential.ID
    ) {
        self.subscriber = subscriber
        self.addressVersion = addressVersion
        self.evidence = evidence
        self.reason = reason
        self.status = status
        self.goneSince = goneSince
        self.run = run
        self.credential = credential
    }
}

/// Which of Apple's two environments an address proved to belong to, when it is not the one that was tried first.
package struct ProvenEnvironment: Sendable {
    package var subscriber: Subscriber.ID
    /// Of the address that was used.
    package var addressVersion: Int32
    package var environment: PushEnvironment

    package init(subscriber: Subscriber.ID, addressVersion: Int32, environment: PushEnvironment) {
        self.subscriber = subscriber
        self.addressVersion = addressVersion
        self.environment = environment
    }
}

extension Reason {
    /// Refusals that hint at the address, not at what was sent: it becomes suspect, and they say nothing of the content.
    package var isAboutAddress: Bool {
        switch self {
        // Apple's answer by way of FCM, such as BadDeviceToken: perhaps only a mix-up of its two environments.
        case .fcmAPNsRejected, .apnsBadDeviceToken: true
        // A push service never redirects a living subscription.
        case .webpushRedirected: true
        default: false
        }
    }
}
