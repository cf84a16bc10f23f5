extension LegacyMessage {
    /// The v1 send requests that it means, one for each token.
    /// - Parameter now: seconds since 1970, for Apple's expiry, which is an instant.
    package mutating func v1Requests(now: Int64) -> [JSONValue] {
        let message = v1Message(now: now)
        let targets: [(String, String)] =
            switch target {
            case .tokens(let tokens)?: tokens.map { ("token", $0) }
            case .topic(let name)?: [("topic", name)]
            case .condition(let text)?: [("condition", text)]
            case nil: []
            }
        return targets.map { field, text in
            var request = JSONValue.object([:])
            var addressed = message
            addressed.set([field], .string(text))
            request.set(["message"], addressed)
            if flag("dry_run") { request.set(["validate_only"], .bool(true)) }
            return request
        }
    }

    private mutating func v1Message(now: Int64) -> JSONValue {
        var message = JSONValue.object([:])
        if !data.isEmpty { message.set(["data"], .object(data.mapValues { .string($0) })) }
        addDelivery(to: &message, now: now)
        addTexts(to: &message)
        addLooks(to: &message)
        return message
    }

    private func addDelivery(to message: inout JSONValue, now: Int64) {
        if case .string(let key)? = members["collapse_key"] {
            message.set(["android", "collapse_key"], .string(key))
            message.set(["apns", "headers", "apns-collapse-id"], .string(key))
            message.set(["webpush", "headers", "Topic"], .string(key))
        }
        if let priority {
            message.set(["android", "priority"], .string(priority.rawValue))
            message.set(["apns", "headers", "apns-priority"], .string(priority == .high ? "10" : "5"))
            message.set(["webpush", "headers", "Urgency"], .string(priority.rawValue))
        }
        if let ttlSeconds {
            message.set(["android", "ttl"], .string("\(ttlSeconds)s"))
            message.set(
                ["apns", "headers", "apns-expiration"], .string(ttlSeconds == 0 ? "0" : "\(now + Int64(ttlSeconds))"))
            message.set(["webpush", "headers", "TTL"], .string("\(ttlSeconds)"))
        }
        if flag("content_available") { message.set(["apns", "payload", "aps", "content-available"], .integer(1)) }
        if flag("mutable_content") { message.set(["apns", "payload", "aps", "mutable-content"], .integer(1)) }
        if notification.isEmpty, flag("content_available") {
            // FCM refuses Apple a message that shows nothing and hurries.
            message.set(["apns", "headers", "apns-priority"], .string("5"))
            message.set(["apns", "headers", "apns-push-type"], .string("background"))
        }
        if let name = members["restricted_package_name"] { message.set(["android", "restricted_package_name"], name) }
    }

    private mutating func addTexts(to message: inout JSONValue) {
        for key in ["title", "body", "image"] {
            if let text = notification[key] { message.set(["notification", key], text) }
        }
        let alert = [
            "subtitle": "subtitle", "body_loc_key": "loc-key", "body_loc_args": "loc-args",
            "title_loc_key": "title-loc-key", "title_loc_args": "title-loc-args",
        ]
        var isAlert = false
        for (key, field) in alert {
            guard let value = localized(key) else { continue }
            isAlert = true
            message.set(["apns", "payload", "aps", "alert", field], value)
            if key != "subtitle" { message.set(["android", "notification", key], value) }
        }
        guard isAlert else { return }
        // Apple's alert stands in place of the common texts.
        for key in ["title", "body"] {
            if let text = notification[key] { message.set(["apns", "payload", "aps", "alert", key], text) }
        }
    }

    /// Arguments were an array within a text.
    private mutating func localized(_ key: String) -> JSONValue? {
        guard let value = notification[key], key.hasSuffix("_args"), case .string(let text) = value else {
            return notification[key]
        }
        if let array = try? CampaignFile.value(Array(text.utf8), limit: 65_536), case .array = array { return array }
        add("/notification/\(key)", "is no JSON array in a text: left out")
        return nil
    }

    private mutating func addLooks(to message: inout JSONValue) {
        if let sound = notification["sound"] {
            message.set(["android", "notification", "sound"], sound)
            message.set(["apns", "payload", "aps", "sound"], sound)
        }
        addBadge(to: &message)
        if let action = text("click_action", of: notification) {
            message.set(["android", "notification", "click_action"], .string(action))
            message.set(["apns", "payload", "aps", "category"], .string(action))
            if URLRules.isValidImage(action) {
                message.set(["webpush", "fcm_options", "link"], .string(action))
            } else {
                add("/notification/click_action", "is no https address: browsers open none")
            }
        }
        if let icon = text("icon", of: notification) {
            let isURL = URLRules.isValidImage(icon)
            message.set(
                isURL ? ["webpush", "notification", "icon"] : ["android", "notification", "icon"], .string(icon))
        }
        if let tag = notification["tag"] {
            message.set(["android", "notification", "tag"], tag)
            message.set(["webpush", "notification", "tag"], tag)
        }
        if let color = notification["color"] { message.set(["android", "notification", "color"], color) }
        if let channel = notification["android_channel_id"] {
            message.set(["android", "notification", "channel_id"], channel)
        }
    }

    /// It was a text and is a number.
    private mutating func addBadge(to message: inout JSONValue) {
        guard let badge = badge else {
            if notification["badge"] != nil { add("/notification/badge", "is no number: left out") }
            return
        }
        message.set(["android", "notification", "notification_count"], .integer(badge))
        message.set(["apns", "payload", "aps", "badge"], .integer(badge))
    }

    var badge: Int? {
        switch notification["badge"] {
        case .string(let text)?: Int(text)
        case .integer(let number)?: number
        default: nil
        }
    }
}

extension JSONValue {
    /// Sets a member, making the objects on the way to it.
    mutating func set(_ path: [String], _ value: JSONValue) { set(path[...], value) }

    private mutating func set(_ path: ArraySlice<String>, _ value: JSONValue) {
        guard let key = path.first else {
            self = value
            return
        }
        var members: [String: JSONValue] = [:]
        if case .object(let known) = self { members = known }
        var child = members[key] ?? .object([:])
        child.set(path.dropFirst(), value)
        members[key] = child
        self = .object(members)
    }
}
