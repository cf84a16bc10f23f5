/// What all devices would show, from what the provider accepted.
///
/// A data message is shown by our app library, which drops an id that it has shown before. A notification message is
/// shown by the system, which replaces what carries the same tag and otherwise shows it once more.
struct DeviceModel: Sendable {
    /// How a message appears on its device.
    enum Appearance {
        /// Not at all: a silent message.
        case hidden
        /// Through the app library; a repeated id is dropped.
        case deduplicated
        /// By the system: a repeated id appears again, unless its tag replaces the first.
        case system(tagged: Bool)
        /// By the system, in place of whatever came under the same identifier (a hash of it) before.
        case replacing(UInt64)
        /// By a browser: it takes the place of what carries the same tag; without one it appears beside all others.
        case browser(tag: UInt64?)
        /// By nobody yet: its push service keeps it for a browser that is away, in place of one with the same topic.
        case waiting(topic: UInt64?)
    }

    struct Totals: Equatable, Sendable {
        var accepted = 0
        var groupSends = 0
        var withoutID = 0
        /// Ids, and pairs of id and device: they differ when one notification went to two devices.
        var distinctIDs = 0
        var distinctPairs = 0
        /// Accepted although the same id had been accepted for the same device.
        var repeats = 0
        var devices = 0
        var shown = 0
        var devicesShownMoreThanOnce = 0
        /// Took the place of another notification with the same tag.
        var replaced = 0
        /// Took the place of one that still waited, with the same topic.
        var replacedWaiting = 0
    }

    private var devices = HashTable<Device>()
    private var seen = HashTable<SeenNotification>()
    /// What is on the screen, by device and identifier.
    private var slots = HashTable<Slot>()
    /// What each tag of a device shows, or each topic of one that is away keeps.
    private var places = HashTable<Place>()
    private(set) var texts: NotificationTexts
    private(set) var totals = Totals()

    /// - Parameter keepingIDs: how many ids to keep as text, for lists of them.
    init(keepingIDs: Int) {
        texts = NotificationTexts(limit: keepingIDs)
    }

    /// Counts a request for a device.
    /// - Returns: how many there were before.
    mutating func attempt(_ device: UInt64) -> UInt32 {
        devices.update(device) { row in
            defer { row.attempts.countUp() }
            return row.attempts
        }
    }

    /// Counts a message for a topic or condition; which devices get it is not modelled.
    mutating func acceptGroup() {
        totals.accepted += 1
        totals.groupSends += 1
    }

    /// - Parameters:
    ///   - id: hash and text of the notification's id, nil if the message has none.
    mutating func accept(device: UInt64, id: (hash: UInt64, text: ArraySlice<UInt8>)?, as appearance: Appearance) {
        totals.accepted += 1
        let isRepeat = id.map { !isFirst($0.hash, $0.text, on: device) } ?? false
        if id == nil { totals.withoutID += 1 }
        if isRepeat { totals.repeats += 1 }
        let (isShown, isShownAgain) = effect(of: appearance, isRepeat: isRepeat, device: device, id: id?.hash ?? 0)
        var isFirstForDevice = false
        var isFirstAgain = false
        devices.update(device) { row in
            isFirstForDevice = row.accepted == 0
            isFirstAgain = isShownAgain && row.shownAgain == 0
            row.accepted.countUp()
            if id != nil, !isRepeat { row.distinct.countUp() }
            if isShown { row.shown.countUp() }
            if isShownAgain { row.shownAgain.countUp() }
        }
        if isFirstForDevice { totals.devices += 1 }
        if isFirstAgain { totals.devicesShownMoreThanOnce += 1 }
        if isShown { totals.shown += 1 }
    }

    func device(_ hash: UInt64) -> Device? { devices.find(hash) }

    /// How often a notification was accepted, for any device.
    func accepted(id hash: UInt64) -> Int {
        Int(seen.find(hash)?.accepted ?? 0)
    }

    private mutating func effect(
        of appearance: Appearance, isRepeat: Bool, device: UInt64, id: UInt64
    ) -> (isShown: Bool, isShownAgain: Bool) {
        switch appearance {
        case .hidden: return (false, false)
        case .deduplicated: return (!isRepeat, false)
        case .system(let tagged): return (!isRepeat || !tagged, isRepeat && !tagged)
        case .replacing(let identifier):
            let isFirst = slots.update(max(1, Hash64.combine(identifier, device))) { slot in
                defer { slot.isTaken = true }
                return !slot.isTaken
            }
            return (isFirst, false)
        case .browser(let tag):
            let before = tag.flatMap { take(Hash64.combine(device, $0), id) }
            if let before, before != id { totals.replaced += 1 }
            let isInPlace = isRepeat && before == id
            return (!isInPlace, isRepeat && !isInPlace)
        case .waiting(let topic):
            if let topic, take(Hash64.combine(~device, topic), id) != nil { totals.replacedWaiting += 1 }
            return (false, false)
        }
    }

    /// Puts a notification into a place.
    /// - Returns: the one that it takes the place of.
    private mutating func take(_ place: UInt64, _ id: UInt64) -> UInt64? {
        places.update(max(1, place)) { row in
            defer {
                row.id = id
                row.isTaken = true
            }
            return row.isTaken ? row.id : nil
        }
    }

    private mutating func isFirst(_ hash: UInt64, _ text: ArraySlice<UInt8>, on device: UInt64) -> Bool {
        let part = UInt32(truncatingIfNeeded: device)
        let (isNew, isElsewhere) = seen.update(hash) { row in
            let isNew = row.accepted == 0
            if isNew { row.device = part }
            row.accepted.countUp()
            return (isNew, row.device != part)
        }
        if isNew {
            totals.distinctIDs += 1
            totals.distinctPairs += 1
            texts.append(text)
            return true
        }
        guard isElsewhere else { return false }
        // Known from another device: a row of its own for the pair.
        let isNewPair = seen.update(max(1, Hash64.combine(hash, device))) { row in
            defer { row.accepted.countUp() }
            return row.accepted == 0
        }
        if isNewPair { totals.distinctPairs += 1 }
        return isNewPair
    }
}
