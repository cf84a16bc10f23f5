/// A committed statement, or what a worker does between two.
struct Step: Sendable, CustomStringConvertible {
    enum Kind: String, Sendable {
        case cancel, pause, resume
        case expiry = "the message expires"
        case rebatch = "re-batch"
        case settleBatch = "settle batch"
        case settleRetries = "settle retries"
        case settleOnce = "settle once"
        case expireBatch = "settle expired batch"
        case expireRetries = "settle expired retries"
        case rescue, falseRescue = "false rescue"
        case strangerReturns = "an unknown batch goes back:"
        case claims, claimsReplyLost = "claims, reply lost,", claimsReplyLate = "claims, reply late,"
        case claimAnswered = "learns that it claimed", givesUpClaim = "gives up the claim of"
        case lateAnswerUsed = "uses the late answer about"
        case diesOf = "dies of"
        case killed
        case announces, announcesLost = "announces, lease lost"
        case accepted = "sends, accepted,"
        case refused = "sends, refused,"
        case retryable = "sends, refused for now,"
        case unanswered = "sends, accepted, no answer,"
        case findsExpired = "finds expired"
        case flushes, flushesReplyLost = "flushes, reply lost", flushLost = "flushes, lease lost"
        case readsControl = "reads control"
        case handsBack = "hands back", handBackLost = "hands back, lease lost"
        case hardHandBack = "hands back at the limit"
    }

    var kind: Kind
    var worker: Int?
    var target: Int?

    var description: String {
        (worker.map { "w\($0) " } ?? "") + kind.rawValue + (target.map { " \($0)" } ?? "")
    }
}
