import Domain

/// Messages compiled for a route, the most recent ones: a worker meets the same few again and again.
struct PreparedMessages {
    struct Key: Hashable {
        let version: ContentVersion.ID
        let route: Route.ID
    }

    /// What a content version became for a route; it may have turned out to be unfit.
    struct Entry {
        /// nil: what is stored breaks a rule that only rendering finds; its jobs end as `content_invalid`.
        let message: (any PreparedMessage)?
        let names: [String]
        let delivery: DeliveryOptions
    }

    private let capacity: Int
    private var entries: [Key: Entry] = [:]
    private var recent: [Key] = []

    init(capacity: Int = 64) { self.capacity = capacity }

    subscript(key: Key) -> Entry? {
        mutating get {
            guard let entry = entries[key] else { return nil }
            if recent.last != key {
                recent.removeAll { $0 == key }
                recent.append(key)
            }
            return entry
        }
        set {
            recent.removeAll { $0 == key }
            entries[key] = newValue
            guard newValue != nil else { return }
            recent.append(key)
            if recent.count > capacity { entries[recent.removeFirst()] = nil }
        }
    }
}
