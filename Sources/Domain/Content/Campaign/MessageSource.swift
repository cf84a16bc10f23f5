/// Where a campaign's text comes from.
package enum MessageSource: Sendable, Equatable {
    case inline(Message)
    /// A stored template, validated when it was stored.
    case template(name: String)
}
