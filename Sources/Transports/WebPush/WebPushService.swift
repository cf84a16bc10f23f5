/// Whose push service a subscription belongs to. Raw values stand in the columns `service`.
///
/// It decides which answers can be read and which headers are added; the request is the same for all.
package enum WebPushService: Int16, CaseIterable, Sendable {
    case fcm = 1
    case mozilla = 2
    case apple = 3
    case wns = 4
    case other = 5

    /// Apple refuses a `TTL` that is not positive, Microsoft one of 0 without a header of its own.
    var smallestTTL: Int64 {
        switch self {
        case .apple, .wns: 1
        case .fcm, .mozilla, .other: 0
        }
    }
}
