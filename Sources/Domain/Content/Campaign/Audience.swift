/// Who gets a campaign (decisions.md "Faces").
package indirect enum Audience: Sendable, Equatable {
    case all
    case and([Audience])
    case or([Audience])
    case not(Audience)
    case transport([TransportKind])
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
