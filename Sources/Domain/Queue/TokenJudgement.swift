/// What one look at the evidence against addresses found.
package struct TokenJudgement: Sendable {
    /// Retired for good now.
    package var retired: Int
    /// Waves that began since the last look.
    package var newWaves: [TokenWave]
    /// Runs that were paused for a wave.
    package var pausedRuns: [Run.ID]

    package init(retired: Int, newWaves: [TokenWave], pausedRuns: [Run.ID]) {
        self.retired = retired
        self.newWaves = newWaves
        self.pausedRuns = pausedRuns
    }
}

/// Too large a share of a credential's answers spoke against addresses: none of them is retired until somebody decides.
package struct TokenWave: Sendable, Equatable {
    package var credential: Credential.ID
    package var evidence: AddressEvidence
    package var answers: Int64
    /// Of these, how many spoke against their address.
    package var against: Int64

    package init(credential: Credential.ID, evidence: AddressEvidence, answers: Int64, against: Int64) {
        self.credential = credential
        self.evidence = evidence
        self.answers = answers
        self.against = against
    }
}
