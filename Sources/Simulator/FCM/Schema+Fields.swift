extension Schema {
    /// One message type as it is written down here; `init` compiles it.
    struct Definition {
        struct Field {
            let name: String
            let kind: FieldRule.Kind
            var role: FieldRule.Role = .none
        }

        let shape: Shape.Name
        var required: [String] = []
        var exclusive: [[String]] = []
        var dependent: [(String, String)] = []
        let fields: [Field]
    }

    /// Every field that FCM v1 takes (discovery document fcm:v1, revision 20261023), by its proto name.
    static let definitions: [Definition] =
        [request, message, notification, fcmOptions] + android + androidV2 + apple + web
}

private typealias Field = Schema.Definition.Field

extension Schema.Definition.Field {
    fileprivate static func string(
        _ name: String, _ check: FieldRule.TextCheck = .any, as role: FieldRule.Role = .none
    ) -> Self { Self(name: name, kind: .string(check), role: role) }

    fileprivate static func strings(_ name: String, _ check: FieldRule.TextCheck = .any) -> Self {
        Self(name: name, kind: .strings(check))
    }

    fileprivate static func bool(_ name: String, as role: FieldRule.Role = .none) -> Self {
        Self(name: name, kind: .bool, role: role)
    }

    fileprivate static func choice(_ name: String, _ choice: FieldRule.Choice) -> Self {
        Self(name: name, kind: .choice(choice))
    }

    fileprivate static func message(_ name: String, _ shape: Shape.Name, as role: FieldRule.Role = .none) -> Self {
        Self(name: name, kind: .message(shape), role: role)
    }

    fileprivate static func data(as role: FieldRule.Role = .none) -> Self {
        Self(name: "data", kind: .textMap(.data), role: role)
    }
}

private let request = Schema.Definition(
    shape: .sendMessageRequest, required: ["message"],
    fields: [.message("message", .message), .bool("validate_only", as: .validateOnly)])

/// That exactly one target is set is checked when all is read: it has a text of its own.
private let message = Schema.Definition(
    shape: .message, exclusive: [["android", "android_v2"]],
    fields: [
        .string("name"), .data(as: .data), .message("notification", .notification, as: .notification),
        .message("android", .androidConfig), .message("android_v2", .androidConfigV2),
        .message("webpush", .webpushConfig), .message("apns", .apnsConfig), .message("fcm_options", .fcmOptions),
        .string("token", .token, as: .token), .string("fid", .token, as: .fid),
        .string("topic", .topic, as: .topic), .string("condition", .condition, as: .condition),
    ])

private let notification = Schema.Definition(
    shape: .notification, fields: [.string("title"), .string("body"), .string("image")])

private let fcmOptions = Schema.Definition(
    shape: .fcmOptions, fields: [.string("analytics_label", .analyticsLabel)])

/// What both versions of the Android block share.
private let androidCommon: [Field] = [
    .string("collapse_key"), .string("ttl", .timeToLive), .string("restricted_package_name"), .data(as: .androidData),
    .message("fcm_options", .androidFcmOptions), .bool("direct_boot_ok"), .bool("bandwidth_constrained_ok"),
    .bool("restricted_satellite_ok"),
]

/// What both versions of the Android notification share.
private let androidNotificationCommon: [Field] = [
    .string("title"), .string("body"), .string("icon"), .string("color", .color), .string("sound"),
    .string("tag", as: .tag), .string("click_action"), .string("body_loc_key"), .strings("body_loc_args"),
    .string("title_loc_key"), .strings("title_loc_args"), .string("channel_id"), .string("ticker"), .bool("sticky"),
    .string("event_time", .timestamp), .bool("local_only"), .choice("notification_priority", .notificationPriority),
    .bool("default_sound"), .bool("default_vibrate_timings"), .bool("default_light_settings"),
    .strings("vibrate_timings", .duration), .choice("visibility", .visibility),
    Field(name: "notification_count", kind: .int32), .string("image"),
]

private let localized = [("title_loc_args", "title_loc_key"), ("body_loc_args", "body_loc_key")]
private let lights = ["color", "light_on_duration", "light_off_duration"]
private let lightFields: [Field] = [
    .message("color", .color), .string("light_on_duration", .duration), .string("light_off_duration", .duration),
]

private let android: [Schema.Definition] = [
    Schema.Definition(
        shape: .androidConfig,
        fields: androidCommon + [
            .choice("priority", .androidPriority),
            .message("notification", .androidNotification, as: .androidNotification),
        ]),
    Schema.Definition(
        shape: .androidNotification, dependent: localized,
        fields: androidNotificationCommon + [
            .message("light_settings", .lightSettings), .choice("proxy", .proxy), .bool("bypass_proxy_notification"),
        ]),
    Schema.Definition(shape: .androidFcmOptions, fields: [.string("analytics_label", .analyticsLabel)]),
    Schema.Definition(shape: .lightSettings, required: lights, fields: lightFields),
    Schema.Definition(
        shape: .color, fields: ["red", "green", "blue", "alpha"].map { Field(name: $0, kind: .fraction) }),
]

private let androidV2: [Schema.Definition] = [
    Schema.Definition(
        shape: .androidConfigV2, exclusive: [["remote_notification", "background_sync"]],
        fields: androidCommon + [
            .message("remote_notification", .androidRemoteNotification),
            .message("background_sync", .androidBackgroundSyncMessage),
        ]),
    Schema.Definition(
        shape: .androidRemoteNotification,
        fields: [
            .message("notification", .androidNotificationV2, as: .androidNotification), .bool("mutable_content"),
            .bool("use_as_v1_data_message"),
        ]),
    Schema.Definition(
        shape: .androidNotificationV2, dependent: localized,
        fields: androidNotificationCommon + [
            Field(name: "id", kind: .int32),
            .message("light_settings", .googleFirebaseFcmV1AndroidNotificationV2LightSettings),
        ]),
    Schema.Definition(shape: .androidBackgroundSyncMessage, fields: []),
    Schema.Definition(
        shape: .googleFirebaseFcmV1AndroidNotificationV2LightSettings, required: lights, fields: lightFields),
]

private let apple: [Schema.Definition] = [
    Schema.Definition(
        shape: .apnsConfig,
        fields: [
            Field(name: "headers", kind: .textMap(.appleHeaders)),
            Field(name: "payload", kind: .anyMap, role: .applePayload), .message("fcm_options", .apnsFcmOptions),
            .string("live_activity_token"),
        ]),
    Schema.Definition(
        shape: .apnsFcmOptions, fields: [.string("analytics_label", .analyticsLabel), .string("image")]),
]

private let web: [Schema.Definition] = [
    Schema.Definition(
        shape: .webpushConfig,
        fields: [
            Field(name: "headers", kind: .textMap(.webHeaders)), .data(),
            Field(name: "notification", kind: .anyMap), .message("fcm_options", .webpushFcmOptions),
        ]),
    Schema.Definition(
        shape: .webpushFcmOptions,
        fields: [.string("analytics_label", .analyticsLabel), .string("link", .httpsURL)]),
]
