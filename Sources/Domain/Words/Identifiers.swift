/// A number that names one row of `Owner`'s table. Assumed neither small nor ordered (reference: identities are bigint).
package struct Identifier<Owner>: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
    package var description: String { String(rawValue) }
}

extension Identifier: Comparable {
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A tenant: its credentials, channels, subscribers and campaigns.
package enum App { package typealias ID = Identifier<App> }

/// One installation or browser that can be pushed to.
package enum Subscriber { package typealias ID = Identifier<Subscriber> }

/// What to send to which audience and when.
package enum Campaign { package typealias ID = Identifier<Campaign> }

/// One occurrence of a campaign.
package enum Run { package typealias ID = Identifier<Run> }

/// The secret that a provider knows an app by.
package enum Credential { package typealias ID = Identifier<Credential> }

/// A small number from the app's own list that leads the keys of every table which grows with the audience.
package struct Shard: RawRepresentable, Hashable, Sendable, Comparable {
    package let rawValue: Int16
    package init(rawValue: Int16) { self.rawValue = rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
