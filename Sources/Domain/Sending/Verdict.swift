/// What a result means for the job: the one place where answers become outcomes.
package enum Verdict: Equatable, Sendable {
    /// The provider did nothing of it: begin it again, free of charge.
    case beginAgain(Reason)
    /// Record this.
    case record(Ruling)

    package struct Ruling: Equatable, Sendable {
        /// nil = another attempt later.
        package var outcome: Outcome?
        package var reason: Reason
        /// Whether the try counts as an attempt.
        package var charged: Bool = true
        package var mayHaveLeft = false
        /// Not again before this; nil = the backoff alone.
        package var wait: Duration?
        /// The fault lies with the credential, not with this job: it pauses for the whole fleet.
        package var pausesCredential = false
        /// The route must send less.
        package var slowsRoute = false
        package var providerID: String?
        /// What it says of the address; nil = nothing.
        package var evidence: AddressEvidence?
        /// With evidence `gone`: since when, if the provider said.
        package var goneSince: Instant?
    }

    /// - Parameter result: as the transport gave it.
    package init(_ result: SendResult) {
        switch result.fate {
        case .notSent(let reason):
            self = .beginAgain(reason)
        case .tryAgain(.otherEnvironment):
            self = .beginAgain(.apnsBadDeviceToken)
        case .tryAgain(.otherConnection(let reason)):
            self = .beginAgain(reason)
        case .mayHaveLeft(let reason):
            self = .record(Ruling(outcome: nil, reason: reason, mayHaveLeft: true))
        case .answered(let answer):
            self = .record(Self.ruling(on: answer, wasSent: result.status != nil))
        }
    }

    private static func ruling(on answer: Answer, wasSent: Bool) -> Ruling {
        switch answer {
        case .delivered(let messageID):
            Ruling(outcome: .delivered, reason: .none, providerID: messageID, evidence: .sound)
        case .unregistered(let reason, let since):
            Ruling(outcome: .unregistered, reason: reason, evidence: .gone, goneSince: since)
        case .refused(.webSilent):
            Ruling(outcome: .skipped, reason: .webSilent, charged: false)
        case .refused(let reason):
            Ruling(
                outcome: .failed, reason: reason, charged: wasSent,
                evidence: reason.isAboutAddress ? .suspicious : nil)
        // The fault of our token, which Apple may refuse for 20 minutes; the job has no part in it.
        case .retry(.apnsTooManyProviderTokenUpdates, let after):
            Ruling(outcome: nil, reason: .apnsTooManyProviderTokenUpdates, charged: false, wait: after ?? .seconds(60))
        case .retry(let reason, let after):
            Ruling(outcome: nil, reason: reason, wait: after)
        case .slowDown(let reason, let after) where reason.concernsOneDevice:
            Ruling(outcome: nil, reason: reason, wait: after)
        case .slowDown(let reason, let after):
            Ruling(outcome: nil, reason: reason, charged: false, wait: after, slowsRoute: true)
        case .wrongProject(let reason):
            Ruling(outcome: .failed, reason: reason, evidence: .foreign)
        // Of the project's Apple and web targets alone: Android goes on, and these look again after a while.
        case .credential(.fcmThirdPartyAuth):
            Ruling(outcome: nil, reason: .fcmThirdPartyAuth, charged: false, wait: .seconds(900))
        case .credential(let reason):
            Ruling(outcome: nil, reason: reason, charged: false, pausesCredential: true)
        case .config(let reason):
            Ruling(outcome: nil, reason: reason, charged: false)
        }
    }
}
