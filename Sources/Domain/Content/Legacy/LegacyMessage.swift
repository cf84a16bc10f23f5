/// A downstream message in the JSON of FCM's old HTTP or XMPP interface, shut down in 2024, read member by member
/// (Firebase guide "Migrate from legacy FCM APIs to HTTP v1").
package struct LegacyMessage: Sendable {
    /// What was found that v1 says otherwise or not at all.
    package struct Note: Sendable, Equatable {
        package var pointer: String
        package var message: String
    }

    /// Whom it went to.
    enum Target: Equatable {
        case tokens([String])
        case topic(String)
        case condition(String)
    }

    let target: Target?
    let members: [String: JSONValue]
    let notification: [String: JSONValue]
    /// As texts by name.
    let data: [String: String]
    package private(set) var notes: [Note]

    static let delivery = [
        "collapse_key", "priority", "content_available", "mutable_content", "time_to_live", "dry_run",
        "restricted_package_name",
    ]
    static let notificationKeys = [
        "title", "body", "subtitle", "sound", "badge", "click_action", "body_loc_key", "body_loc_args", "title_loc_key",
        "title_loc_args", "android_channel_id", "icon", "tag", "color", "image",
    ]
    /// What has no successor, and what to do instead.
    static let withoutSuccessor = [
        "message_id": "v1 names the message in its answer; keep an id of your own in data",
        "delivery_receipt_requested": "v1 sends no receipts; Firebase's reports and BigQuery export count deliveries",
        "delay_while_idle": "it was without effect since 2016; use priority normal",
        "message_type": "v1 knows downstream messages only: acks, receipts and control messages are gone",
        "category": "v1 knows no upstream messages; say the package in restricted_package_name",
        "from": "v1 knows no upstream messages",
        "error": "an error is v1's HTTP status with details[].errorCode",
        "error_description": "v1 says it in error.message",
        "control_type": "draining is HTTP/2's GOAWAY",
    ]

    /// - Throws: `ContentProblems` where it is no JSON object, or its members are of types that the old interface refused.
    package init(_ json: [UInt8]) throws(ContentProblems) {
        let value = try CampaignFile.value(json, limit: CampaignFile.maximumBytes)
        var problems = ProblemList(mode: .strict)
        guard let file = problems.object(value, at: .root, known: nil) else {
            throw ContentProblems(problems.sorted)
        }
        var reader = LegacyReader(problems: problems)
        target = reader.target(file)
        notification = reader.object("notification", of: file)
        data = reader.data(file)
        var members: [String: JSONValue] = [:]
        for key in Self.delivery { members[key] = file[key] }
        reader.check(file)
        self.members = members
        try reader.problems.throwIfAny()
        notes = reader.notes
    }

    mutating func add(_ pointer: String, _ message: String) {
        notes.append(Note(pointer: pointer, message: message))
    }
}

/// Reads the members that need more than copying.
private struct LegacyReader {
    var problems: ProblemList
    var notes: [LegacyMessage.Note] = []

    mutating func target(_ file: JSONMembers) -> LegacyMessage.Target? {
        let given = ["to", "registration_ids", "condition"].filter(file.has)
        guard given.count == 1, let kind = given.first else {
            problems.add(
                .audienceInvalid, at: file.pointer / (given.first ?? "to"),
                given.isEmpty ? "The message names no target." : "The message names more than one target.",
                remedy: "Give one of to, registration_ids and condition.")
            return nil
        }
        if kind == "registration_ids" {
            guard let elements = problems.array(kind, of: file) else { return nil }
            notes.append(.init(pointer: "/registration_ids", message: "v1 sends one request for each token"))
            return .tokens(
                elements.enumerated().compactMap { problems.string($1, at: file.pointer / kind / $0) })
        }
        guard let text = problems.string(kind, of: file) else { return nil }
        if kind == "condition" { return checked(.condition(text), .condition(text), at: file.pointer / kind) }
        let prefix = "/topics/"
        guard text.hasPrefix(prefix) else { return .tokens([text]) }
        let name = String(text.dropFirst(prefix.count))
        return checked(.topic(name), .topic(name), at: file.pointer / kind)
    }

    private mutating func checked(
        _ target: LegacyMessage.Target, _ meant: ProviderTarget, at pointer: JSONPointer
    ) -> LegacyMessage.Target {
        if !meant.isValid {
            problems.add(
                .audienceInvalid, at: pointer, "This is no topic or condition that v1 takes.",
                remedy: "Write 'name' in topics, joined by && or || with a space on each side, at most 5 topics.")
        }
        return target
    }

    mutating func object(_ key: String, of file: JSONMembers) -> [String: JSONValue] {
        guard let members = problems.object(key, of: file, known: nil) else { return [:] }
        var values: [String: JSONValue] = [:]
        for key in members.keys {
            guard LegacyMessage.notificationKeys.contains(key) else {
                notes.append(.init(pointer: (members.pointer / key).description, message: "has no successor in v1"))
                continue
            }
            values[key] = members[key]
        }
        return values
    }

    mutating func data(_ file: JSONMembers) -> [String: String] {
        guard let entries = problems.object("data", of: file, known: nil) else { return [:] }
        var data: [String: String] = [:]
        for key in entries.keys {
            let pointer = entries.pointer / key
            if MessageReader.isReserved(dataKey: key) {
                problems.add(
                    .dataKeyReserved, at: pointer, "v1 refuses this key.", remedy: "Use another, in the app too.")
            }
            guard let value = entries[key] else { continue }
            if case .string(let text) = value {
                data[key] = text
            } else {
                data[key] = value.text
                notes.append(.init(pointer: pointer.description, message: "v1 takes texts only: sent as JSON text"))
            }
        }
        return data
    }

    mutating func check(_ file: JSONMembers) {
        let read = ["to", "registration_ids", "condition", "notification", "data"] + LegacyMessage.delivery
        for key in file.keys where !read.contains(key) {
            let remedy = LegacyMessage.withoutSuccessor[key] ?? "the old interface had no such member"
            notes.append(.init(pointer: (file.pointer / key).description, message: "has no successor in v1: \(remedy)"))
        }
        _ = problems.string("collapse_key", of: file)
        _ = problems.string("restricted_package_name", of: file)
        for key in ["content_available", "mutable_content", "dry_run"] { _ = problems.bool(key, of: file) }
        _ = problems.integer("time_to_live", of: file, in: 0...2_419_200, else: .deliveryInvalid)
        if let priority = file["priority"], LegacyMessage.priority(priority) == nil {
            problems.add(
                .deliveryInvalid, at: file.pointer / "priority", "This is no priority.", remedy: "Use normal or high.")
        }
    }
}

extension LegacyMessage {
    /// In words, or as Apple's numbers, which the old interface took too.
    static func priority(_ value: JSONValue) -> DeliveryOptions.Priority? {
        switch value {
        case .string("high"), .integer(10), .string("10"): .high
        case .string("normal"), .integer(5), .string("5"): .normal
        default: nil
        }
    }

    var priority: DeliveryOptions.Priority? { members["priority"].flatMap(Self.priority) }
    var ttlSeconds: Int? { if case .integer(let seconds)? = members["time_to_live"] { seconds } else { nil } }
    func flag(_ key: String) -> Bool { members[key] == .bool(true) }

    func text(_ key: String, of values: [String: JSONValue]) -> String? {
        if case .string(let text)? = values[key] { text } else { nil }
    }
}
