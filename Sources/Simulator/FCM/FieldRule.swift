/// What one field of the send request takes. Trivial values only: rules are copied for every field of every request.
struct FieldRule {
    enum Kind: Equatable {
        case string(TextCheck)
        case strings(TextCheck)
        case bool
        case int32
        /// A number from 0 to 1.
        case fraction
        case choice(Choice)
        case message(Shape.Name)
        /// Names to strings.
        case textMap(MapCheck)
        /// Names to any JSON.
        case anyMap
    }

    /// What a string must be beyond being one.
    enum TextCheck {
        case any, token, topic, condition, analyticsLabel, color, httpsURL, timestamp
        /// Seconds with the suffix `s`, not negative.
        case duration
        /// A duration of at most four weeks.
        case timeToLive
    }

    /// What names and values of a map must be.
    enum MapCheck {
        case data, appleHeaders, webHeaders
    }

    /// Enumerations of the schema.
    enum Choice {
        case androidPriority, notificationPriority, visibility, proxy
    }

    /// Fields whose value the answer or the device model depends on.
    enum Role {
        case none, validateOnly
        case token, fid, topic, condition
        case data, androidData, notification, androidNotification, tag, applePayload
    }

    let kind: Kind
    let role: Role
    /// Its bit among its shape's fields.
    let bit: UInt64
}

/// One message type of the schema.
struct Shape {
    /// As in the discovery document, in lower camel case.
    enum Name: UInt8, CaseIterable {
        case sendMessageRequest, message, notification
        case androidConfig, androidNotification, androidFcmOptions, lightSettings, color
        case androidConfigV2, androidRemoteNotification, androidNotificationV2, androidBackgroundSyncMessage
        case googleFirebaseFcmV1AndroidNotificationV2LightSettings
        case apnsConfig, apnsFcmOptions, webpushConfig, webpushFcmOptions, fcmOptions
    }

    /// Bits of the fields that must be there.
    var required: UInt64 = 0
    /// Sets of fields of which one may be there.
    var exclusive: [UInt64] = []
    /// If the first is there, so must be the second.
    var dependent: [(UInt64, UInt64)] = []
}
