import Domain

/// What the jobs of a batch say. All the same, but for collected notifications, which bring their own.
struct BatchMessages {
    private let standard: ContentVersion.ID
    private let entries: [ContentVersion.ID: PreparedMessages.Entry]
    /// Names of all placeholders of all versions: what is asked of the subscribers.
    let names: [String]
    /// For each version, where its names lie in `names`; nil when they are the same.
    private let places: [ContentVersion.ID: [Int]]

    init(standard: ContentVersion.ID, entries: [ContentVersion.ID: PreparedMessages.Entry]) {
        self.standard = standard
        self.entries = entries
        if entries.count == 1, let only = entries.values.first {
            names = only.names
            places = [:]
        } else {
            let union = Set(entries.values.flatMap(\.names)).sorted()
            names = union
            places = entries.mapValues { entry in entry.names.compactMap { union.firstIndex(of: $0) } }
        }
    }

    func version(of job: PushJob) -> ContentVersion.ID { job.contentVersion ?? standard }

    /// nil = its content cannot be sent.
    func message(_ version: ContentVersion.ID) -> (any PreparedMessage)? { entries[version]?.message }

    /// How it travels.
    func delivery(_ version: ContentVersion.ID) -> DeliveryOptions? { entries[version]?.delivery }

    /// The recipient's values in the order of the version's own names.
    func values(of recipient: Recipient, for version: ContentVersion.ID) -> [String?] {
        guard let places = places[version] else { return recipient.values }
        return places.map { recipient.values[$0] }
    }
}
