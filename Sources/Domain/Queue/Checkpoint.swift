/// Named points where a test ends the process, so that a crash between any two statements can be tried.
package enum Checkpoint: String, CaseIterable, Sendable {
    case beforeClaim = "claim.before"
    case afterClaim = "claim.after"
    case afterRead = "read.after"
    case beforeSend = "send.before"
    case afterSend = "send.after"
    case beforeFlush = "flush.before"
    case afterFlush = "flush.after"
    case beforePage = "page.before"
    case afterPage = "page.after"
    case beforeHandBack = "hand_back.before"
    case afterHandBack = "hand_back.after"
    case beforeRescue = "rescue.before"
    case afterRescue = "rescue.after"
    case beforeRebatch = "rebatch.before"
    case afterRebatch = "rebatch.after"
}

/// Told of each checkpoint as it is passed. Production passes `.none`.
package struct Checkpoints: Sendable {
    package let reach: @Sendable (Checkpoint) -> Void
    /// Told of each job that is about to be begun; nil = nobody listens.
    package let begin: (@Sendable (JobIdentity) -> Void)?
    package init(
        begin: (@Sendable (JobIdentity) -> Void)? = nil, _ reach: @escaping @Sendable (Checkpoint) -> Void
    ) {
        self.begin = begin
        self.reach = reach
    }
    package static let none = Checkpoints { _ in }
}
