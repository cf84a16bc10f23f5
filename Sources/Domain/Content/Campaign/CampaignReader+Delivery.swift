extension CampaignReader {
    private static let deliveryFields = [
        "ttlSeconds", "collapseKey", "priority", "inDoubt", "perUser", "fcmMode", "analyticsLabel", "quietHours",
        "bypass",
    ]

    private enum Priority: String, CaseIterable { case high, normal }
    private enum InDoubt: String, CaseIterable {
        case retry
        case assumeSent = "assume_sent"
    }

    /// Content model §11.5.
    mutating func delivery(_ file: JSONMembers) -> (DeliveryOptions, CampaignFile.Disturbance) {
        var options = DeliveryOptions()
        var disturbance = CampaignFile.Disturbance()
        guard let members = problems.object("delivery", of: file, known: Self.deliveryFields) else {
            return (options, disturbance)
        }
        options.ttlSeconds = problems.integer("ttlSeconds", of: members, in: 0...2_419_200, else: .deliveryInvalid)
        options.collapseKey = collapseKey(members)
        let priority: Priority? = problems.word("priority", of: members, else: .deliveryInvalid)
        options.priority = priority.map { $0 == .high ? .high : .normal }
        let inDoubt: InDoubt? = problems.word("inDoubt", of: members, else: .deliveryInvalid)
        options.inDoubt = inDoubt == .assumeSent ? .assumeSent : .retry
        options.fcmMode = problems.word("fcmMode", of: members, else: .deliveryInvalid)
        options.analyticsLabel = analyticsLabel(members)
        let perUser: CampaignFile.PerUser? = problems.word("perUser", of: members, else: .deliveryInvalid)
        disturbance.perUser = perUser ?? .all
        disturbance.quietHours = problems.word("quietHours", of: members, else: .deliveryInvalid)
        disturbance.bypass = bypass(members)
        return (options, disturbance)
    }

    private mutating func analyticsLabel(_ members: JSONMembers) -> String? {
        guard let label = problems.string("analyticsLabel", of: members) else { return nil }
        if ProviderLabel.isValid(label, atMost: 50) { return label }
        problems.add(
            .deliveryInvalid, at: members.pointer / "analyticsLabel", "This is no label.",
            remedy: "Use 1 to 50 letters, digits, -, _, ., ~ and %.")
        return nil
    }

    /// It travels in HTTP fields, where a control character would break the request.
    private mutating func collapseKey(_ members: JSONMembers) -> String? {
        guard let key = problems.string("collapseKey", of: members) else { return nil }
        if 1...64 ~= key.utf8.count, key.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) { return key }
        problems.add(
            .deliveryInvalid, at: members.pointer / "collapseKey",
            "The collapseKey is empty, too long, or no plain text.",
            remedy: "Use 1 to 64 bytes of UTF-8 without control characters.")
        return nil
    }
}
