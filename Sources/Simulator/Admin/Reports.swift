import HTTP2
import Threading

/// `GET /admin/counts`.
struct CountsReport: Encodable {
    /// Sends that reached the endpoints of FCM and APNs, whatever became of them.
    let requests: Int
    let byStatus: [String: Int]
    let byReason: [String: Int]
    /// Accepted for a device or a topic, also where the sender never learnt it. The same number twice, since tests of
    /// other push services call it the one or the other.
    let accepted: Int
    let wireSends: Int
    /// Those of them for topics and conditions.
    let groupSends: Int
    /// Those of them without an id, which no device can tell apart.
    let withoutID: Int
    let validatedOnly: Int
    let distinctIDs: Int
    /// Pairs of id and device; more than `distinct_ids` if a notification went to several devices.
    let distinctDeliveries: Int
    let repeats: Int
    /// Web Push: what the browser could not read; what took the place of another with the same tag; what took the place
    /// of another that still waited, with the same topic.
    let unreadable: Int
    let replaced: Int
    let replacedWaiting: Int
    let devices: Int
    let devicesShownMoreThanOnce: Int
    let notificationsShown: Int
    let oauthRequests: Int
    let oauthTokensIssued: Int
    let oauthRefused: [String: Int]
    /// Provider tokens of APNs that were good, and those of them made within 20 minutes of another of the same key.
    let providerTokens: Int
    let providerTokensTooEarly: Int
    /// Of compact JSON, in bytes.
    let largestPayload: Int
    let connections: Int?
    let connectionsAccepted: Int?
    let inFlight: Int?
    let journalFailure: String?

    init(_ state: SimulatorState, _ server: HTTP2ServerStatistics?) {
        let (counts, totals) = (state.counts, state.devices.totals)
        requests = counts.requests
        byStatus = counts.byStatus
        byReason = counts.byReason
        accepted = totals.accepted
        wireSends = totals.accepted
        groupSends = totals.groupSends
        withoutID = totals.withoutID
        validatedOnly = counts.validatedOnly
        distinctIDs = totals.distinctIDs
        distinctDeliveries = totals.distinctPairs
        repeats = totals.repeats
        unreadable = counts.unreadable
        replaced = totals.replaced
        replacedWaiting = totals.replacedWaiting
        devices = totals.devices
        devicesShownMoreThanOnce = totals.devicesShownMoreThanOnce
        notificationsShown = totals.shown
        oauthRequests = counts.oauthRequests
        oauthTokensIssued = state.tokens.issued
        oauthRefused = counts.oauthRefused
        providerTokens = state.providerTokens.distinct
        providerTokensTooEarly = state.providerTokens.renewedTooEarly
        largestPayload = counts.largestPayload
        connections = server?.openConnections
        connectionsAccepted = server?.acceptedConnections
        inFlight = nil
        journalFailure = state.journal?.failure?.description
    }

    enum CodingKeys: String, CodingKey {
        case requests, accepted, repeats, unreadable, replaced, devices, connections
        case replacedWaiting = "replaced_waiting"
        case byStatus = "by_status"
        case byReason = "by_reason"
        case wireSends = "wire_sends"
        case groupSends = "group_sends"
        case withoutID = "without_id"
        case validatedOnly = "validated_only"
        case distinctIDs = "distinct_ids"
        case distinctDeliveries = "distinct_deliveries"
        case devicesShownMoreThanOnce = "devices_shown_more_than_once"
        case notificationsShown = "notifications_shown"
        case oauthRequests = "oauth_requests"
        case oauthTokensIssued = "oauth_tokens_issued"
        case oauthRefused = "oauth_refused"
        case providerTokens = "provider_tokens"
        case providerTokensTooEarly = "provider_tokens_too_early"
        case largestPayload = "largest_payload"
        case connectionsAccepted = "connections_accepted"
        case inFlight = "in_flight"
        case journalFailure = "journal_failure"
    }
}

/// `GET /admin/device`.
struct DeviceReport: Encodable {
    let attempts: UInt32
    let accepted: UInt32
    let distinctIDs: UInt32
    let shown: UInt16
    let shownAgain: UInt16

    init(_ device: Device) {
        attempts = device.attempts
        accepted = device.accepted
        distinctIDs = device.distinct
        shown = device.shown
        shownAgain = device.shownAgain
    }

    enum CodingKeys: String, CodingKey {
        case attempts, accepted, shown
        case distinctIDs = "distinct_ids"
        case shownAgain = "shown_again"
    }
}

/// `GET /admin/fault`.
struct FaultReport: Encodable {
    let shares: [String: Double]
    let latency: String
    let retryAfter: Int
    let rate: String?

    init(_ settings: FaultSettings) {
        shares = settings.shares
        latency = settings.latency.text
        retryAfter = settings.retryAfter
        rate = settings.limit.map { "\($0.count) per \($0.span)" }
    }

    enum CodingKeys: String, CodingKey {
        case shares, latency, rate
        case retryAfter = "retry_after"
    }
}
