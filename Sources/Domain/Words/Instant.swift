/// A point in time by the database's clock, in microseconds since 1970-01-01T00:00:00Z.
///
/// `Domain` reads no clock: an instant always comes from the caller.
package struct Instant: Hashable, Comparable, Sendable {
    package let microseconds: Int64

    package init(microseconds: Int64) { self.microseconds = microseconds }

    /// Whole seconds since 1970, rounded down.
    package var seconds: Int64 { microseconds >= 0 ? microseconds / 1_000_000 : (microseconds - 999_999) / 1_000_000 }

    package static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }

    package static func + (instant: Self, span: Duration) -> Self {
        Instant(microseconds: instant.microseconds + span.microseconds)
    }

    package static func - (instant: Self, span: Duration) -> Self {
        Instant(microseconds: instant.microseconds - span.microseconds)
    }

    package static func - (later: Self, earlier: Self) -> Duration {
        .microseconds(later.microseconds - earlier.microseconds)
    }
}

extension Duration {
    /// Rounded toward zero.
    package var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
