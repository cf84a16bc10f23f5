/// What happened to the sends so far, but for what the devices know.
struct Counts: Sendable {
    /// An answer without a response: the stream was reset, refused or left open.
    static let noAnswer = 0

    private(set) var requests = 0
    /// 200 and accepted, by far the most; kept apart because it costs the least.
    private(set) var ok = 0
    private var otherStatus: [Int: Int] = [:]
    private var otherReason: [String: Int] = [:]
    private(set) var largestPayload = 0
    private(set) var validatedOnly = 0
    var oauthRequests = 0
    /// Web Push: accepted, and the browser could not read it.
    var unreadable = 0
    private(set) var oauthRefused: [String: Int] = [:]

    mutating func countOK(validateOnly: Bool) {
        requests += 1
        ok += 1
        if validateOnly { validatedOnly += 1 }
    }

    mutating func count(status: Int, reason: String) {
        requests += 1
        otherStatus[status, default: 0] += 1
        otherReason[reason, default: 0] += 1
    }

    mutating func countOAuth(refusal: String) {
        oauthRefused[refusal, default: 0] += 1
    }

    mutating func notePayload(_ bytes: Int) {
        if bytes > largestPayload { largestPayload = bytes }
    }

    /// By status; `none` for requests that got no answer.
    var byStatus: [String: Int] {
        var all = otherStatus
        all[200, default: 0] += ok
        return Dictionary(uniqueKeysWithValues: all.map { ($0 == Self.noAnswer ? "none" : String($0), $1) })
    }

    /// By FCM's code, or the fault's name where the answer has none; `ok` for accepted ones.
    var byReason: [String: Int] {
        otherReason.merging(["ok": ok]) { $0 + $1 }
    }
}
