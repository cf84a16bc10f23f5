/// Who gets a campaign.
///
/// What a subscriber lacks matches nothing but `ne`, `not` and `exists: false`. Comparisons are of numbers with numbers
/// and texts with texts; others are false.
package indirect enum Audience: Sendable, Equatable {
    case all
    case and([Audience])
    case or([Audience])
    case not(Audience)
    case transport([TransportKind])
    /// What the attribute `platform` says; without one `ios`, `android` or `web`, by transport.
    case platform([String])
    /// A base matches its regions too.
    case language([String])
    /// Has any of them.
    case tag([String])
    case attribute(name: String, Comparison)
    case registered(Interval)
    case seen(Interval)
    case user([String])
    case externalID([String])
    case segment(String)

    package enum Comparison: Sendable, Equatable {
        case equal(JSONValue)
        case notEqual(JSONValue)
        case less(JSONValue)
        case lessOrEqual(JSONValue)
        case greater(JSONValue)
        case greaterOrEqual(JSONValue)
        case among([JSONValue])
        case exists(Bool)
    }

    /// Open at either end, never at both.
    package struct Interval: Sendable, Equatable {
        package var after: Instant?
        package var before: Instant?
    }
}
