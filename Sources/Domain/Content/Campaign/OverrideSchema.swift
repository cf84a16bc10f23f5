/// The blocks of the FCM v1 message that overrides may hold: names, types and ranges, as far as an author may set them
/// (Google's discovery document fcm:v1, revision 20261023; ranges and patterns from its descriptions).
struct OverrideSchema: Sendable {
    indirect enum Kind: Sendable {
        case string
        case bool
        case int32
        /// 0 to 1.
        case fraction
        /// Seconds with an `s` behind, at most so many.
        case duration(maximumSeconds: Double)
        /// RFC 3339.
        case instant
        case word([String])
        /// `#rrggbb`
        case color
        /// `^[a-zA-Z0-9-_.~%]{1,50}$`
        case label
        case httpsLink
        case list(Kind)
        /// Texts by name, handed to the app.
        case data
        /// Texts by name, sent as HTTP fields.
        case headers
        /// Any object.
        case free
        /// An object whose `aps` Apple reads.
        case applePayload
        case message(OverrideSchema)
    }

    /// By JSON name.
    let fields: [String: Kind]
    var required: [String] = []
    /// Where the first is given, the second must be.
    var pairs: [(String, String)] = []

    /// Of a block or field that may stand in either spelling.
    func camelName(of key: String) -> String? {
        if fields[key] != nil { return key }
        return fields.keys.first { Self.snakeCase($0) == key }
    }

    static func snakeCase(_ name: String) -> String {
        var snake = ""
        for character in name.unicodeScalars {
            if "A"..."Z" ~= character { snake += "_" }
            snake += character.properties.lowercaseMapping
        }
        return snake
    }

    static let overrides = OverrideSchema(fields: [
        "android": .message(android), "apns": .message(apns), "webpush": .message(webpush),
    ])

    private static let fourWeeks = 2_419_200.0
    /// What protocol buffers allow, some 10,000 years.
    private static let longest = 315_576_000_000.0

    private static let android = OverrideSchema(fields: [
        "bandwidthConstrainedOk": .bool, "collapseKey": .string, "data": .data, "directBootOk": .bool,
        "fcmOptions": .message(OverrideSchema(fields: ["analyticsLabel": .label])),
        "notification": .message(androidNotification), "priority": .word(["NORMAL", "HIGH", "normal", "high"]),
        "restrictedPackageName": .string, "restrictedSatelliteOk": .bool, "ttl": .duration(maximumSeconds: fourWeeks),
    ])

    private static let androidNotification = OverrideSchema(
        fields: [
            "body": .string, "bodyLocArgs": .list(.string), "bodyLocKey": .string, "bypassProxyNotification": .bool,
            "channelId": .string, "clickAction": .string, "color": .color, "defaultLightSettings": .bool,
            "defaultSound": .bool, "defaultVibrateTimings": .bool, "eventTime": .instant, "icon": .string,
            "image": .string, "lightSettings": .message(lightSettings), "localOnly": .bool,
            "notificationCount": .int32,
            "notificationPriority": .word([
                "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH",
                "PRIORITY_MAX",
            ]),
            "proxy": .word(["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]), "sound": .string,
            "sticky": .bool, "tag": .string, "ticker": .string, "title": .string, "titleLocArgs": .list(.string),
            "titleLocKey": .string, "vibrateTimings": .list(.duration(maximumSeconds: longest)),
            "visibility": .word(["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
        ],
        pairs: [("titleLocArgs", "titleLocKey"), ("bodyLocArgs", "bodyLocKey")])

    private static let lightSettings = OverrideSchema(
        fields: [
            "color": .message(
                OverrideSchema(fields: ["red": .fraction, "green": .fraction, "blue": .fraction, "alpha": .fraction])),
            "lightOnDuration": .duration(maximumSeconds: longest),
            "lightOffDuration": .duration(maximumSeconds: longest),
        ],
        required: ["color", "lightOnDuration", "lightOffDuration"])

    private static let apns = OverrideSchema(fields: [
        "fcmOptions": .message(OverrideSchema(fields: ["analyticsLabel": .label, "image": .string])),
        "headers": .headers, "liveActivityToken": .string, "payload": .applePayload,
    ])

    private static let webpush = OverrideSchema(fields: [
        "data": .data, "fcmOptions": .message(OverrideSchema(fields: ["analyticsLabel": .label, "link": .httpsLink])),
        "headers": .headers, "notification": .free,
    ])
}
