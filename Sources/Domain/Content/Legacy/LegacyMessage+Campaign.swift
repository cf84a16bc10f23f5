extension LegacyMessage {
    /// The campaign that it means: a file for `campaign create`, once whoever it is for is named.
    /// - Parameter language: of its texts, which the old interface did not know.
    package mutating func campaign(app: String, name: String, language: String, now: Int64) -> JSONValue {
        var file = JSONValue.object(["app": .string(app), "name": .string(name)])
        addMessage(to: &file, language: language, now: now)
        addOptions(to: &file)
        switch target {
        case .topic(let topic)?: file.set(["audience", "topic"], .string(topic))
        case .condition(let text)?: file.set(["audience", "condition"], .string(text))
        case .tokens?, nil:
            add(
                "/audience",
                "a campaign names subscribers, not tokens: add an audience, such as {\"externalId\": [\"…\"]}")
        }
        if flag("dry_run") { add("/dry_run", "has no member here: use pushfleet campaign check") }
        return file
    }

    private mutating func addMessage(to file: inout JSONValue, language: String, now: Int64) {
        let entries = data.mapValues { JSONValue.string($0) }
        if !entries.isEmpty { file.set(["message", "data"], .object(entries)) }
        guard !notification.isEmpty else { return file.set(["message", "silent"], .bool(true)) }
        for key in ["title", "body"] {
            if notification[key] == nil {
                add("/message/content/\(language)/\(key)", "a campaign needs it: the old message had none")
            }
            file.set(["message", "content", language, key], notification[key] ?? .string(""))
        }
        file.set(["message", "content", "_default"], .string(language))
        if let image = notification["image"] { file.set(["message", "content", language, "image"], image) }
        if let action = text("click_action", of: notification), URLRules.isValidImage(action) {
            file.set(["message", "content", language, "url"], .string(action))
        }
        file.set(["message", "presentation", "sound"], notification["sound"] ?? .string("none"))
        if let badge { file.set(["message", "presentation", "badge"], .integer(badge)) }
        if let channel = notification["android_channel_id"] {
            file.set(["message", "presentation", "channelId"], channel)
        }
        if let icon = text("icon", of: notification), URLRules.isValidImage(icon) {
            file.set(["message", "presentation", "icon"], .string(icon))
        }
        addOverrides(to: &file, now: now)
    }

    /// What the content model has no words for, as blocks of the v1 message.
    private mutating func addOverrides(to file: inout JSONValue, now: Int64) {
        guard case .object(let request)? = v1Requests(now: now).first, case .object(let message)? = request["message"]
        else { return }
        let kept: [[String]] = [
            ["android", "notification", "icon"], ["android", "notification", "color"],
            ["android", "notification", "tag"],
            ["android", "notification", "click_action"], ["android", "notification", "body_loc_key"],
            ["android", "notification", "body_loc_args"], ["android", "notification", "title_loc_key"],
            ["android", "notification", "title_loc_args"], ["android", "restricted_package_name"],
            ["apns", "payload", "aps", "category"], ["apns", "payload", "aps", "alert"],
            ["apns", "payload", "aps", "content-available"], ["apns", "payload", "aps", "mutable-content"],
            ["webpush", "notification", "tag"],
        ]
        for path in kept {
            if let value = JSONValue.object(message).value(at: path) {
                file.set(["message", "overrides"] + path, value)
            }
        }
    }

    private func addOptions(to file: inout JSONValue) {
        // As the old interface sent it: data key by key, drawn by FCM.
        file.set(["delivery", "fcmMode"], .string("notification"))
        if let ttlSeconds { file.set(["delivery", "ttlSeconds"], .integer(ttlSeconds)) }
        if let priority { file.set(["delivery", "priority"], .string(priority.rawValue)) }
        if let key = members["collapse_key"] { file.set(["delivery", "collapseKey"], key) }
    }
}

extension JSONValue {
    fileprivate func value(at path: [String]) -> JSONValue? {
        path.reduce(self as JSONValue?) { value, key in
            if case .object(let members)? = value { members[key] } else { nil }
        }
    }
}
