/// What one device got, as far as its provider and its screen know. Counters stay at their largest value.
struct Device: HashRow, Equatable {
    let hash: UInt64
    /// Requests for it, accepted or not; those refused before the token was read do not count.
    var attempts: UInt32 = 0
    /// Requests that the provider accepted, whether or not the sender learnt of it.
    var accepted: UInt32 = 0
    /// Different notification ids among them.
    var distinct: UInt32 = 0
    /// Notifications put on the screen. One that replaced another with the same id is not a new one.
    var shown: UInt16 = 0
    /// Times that an id was put on the screen again, beside what it had put there before.
    var shownAgain: UInt16 = 0

    static let empty = Device(hash: 0)

    init(hash: UInt64) {
        self.hash = hash
    }
}

/// One notification id, on the device that it came to first.
struct SeenNotification: HashRow {
    let hash: UInt64
    /// Part of the device's hash.
    var device: UInt32 = 0
    var accepted: UInt16 = 0

    static let empty = SeenNotification(hash: 0)

    init(hash: UInt64) {
        self.hash = hash
    }
}

/// A place on one device's screen.
struct Slot: HashRow {
    let hash: UInt64
    var isTaken = false

    static let empty = Slot(hash: 0)

    init(hash: UInt64) {
        self.hash = hash
    }
}

/// Where one notification of a device is at a time.
struct Place: HashRow {
    let hash: UInt64
    var id: UInt64 = 0
    var isTaken = false

    static let empty = Place(hash: 0)

    init(hash: UInt64) {
        self.hash = hash
    }
}

extension FixedWidthInteger {
    /// Adds one, but stays at the largest value.
    mutating func countUp() {
        self = self == .max ? .max : self + 1
    }
}
