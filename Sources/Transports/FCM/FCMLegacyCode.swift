import Domain

/// An error code of FCM's old HTTP or XMPP interface, and what it is taken for (Firebase guide "Migrate from legacy FCM
/// APIs to HTTP v1"). Proxies and older simulators still answer with them.
package struct FCMLegacyCode: Sendable {
    package let code: String
    /// v1's name for it.
    package let successor: String
    package let action: String
    let answer: Answer

    private init(_ code: String, _ successor: String, _ answer: Answer, _ action: String) {
        self.code = code
        self.successor = successor
        self.answer = answer
        self.action = action
    }

    static func answer(to code: String) -> Answer? { byCode[code]?.answer }

    /// As reports name the class.
    package var answerName: String {
        switch answer {
        case .delivered: "delivered"
        case .unregistered: "unregistered"
        case .refused: "refused"
        case .retry: "retry"
        case .slowDown: "slow_down"
        case .credential: "credential"
        case .wrongProject: "wrong_project"
        case .config: "config"
        }
    }

    private static let byCode = Dictionary(uniqueKeysWithValues: table.map { ($0.code, $0) })

    /// XMPP's codes in capitals, then HTTP's.
    package static let table: [FCMLegacyCode] = xmpp + http

    private static let xmpp = [
        FCMLegacyCode(
            "BAD_REGISTRATION", "INVALID_ARGUMENT, field message.token", .unregistered(.fcmInvalidToken, since: nil),
            "retire the token; check that it was not cut or padded"),
        FCMLegacyCode(
            "DEVICE_UNREGISTERED", "UNREGISTERED", .unregistered(.fcmUnregistered, since: nil), "retire the token"),
        FCMLegacyCode(
            "SENDER_ID_MISMATCH", "SENDER_ID_MISMATCH", .wrongProject(.fcmSenderIDMismatch),
            "the token belongs to another project"),
        FCMLegacyCode(
            "INVALID_JSON", "INVALID_ARGUMENT", .refused(.fcmInvalidArgument),
            "mend the message: JSON, target, size, a reserved data key, or the TTL"),
        FCMLegacyCode(
            "DEVICE_MESSAGE_RATE_EXCEEDED", "QUOTA_EXCEEDED, one device",
            .slowDown(.fcmDeviceQuotaExceeded, after: nil), "send to that device less often"),
        FCMLegacyCode(
            "DEVICE_MESSAGE_RATE", "QUOTA_EXCEEDED, one device", .slowDown(.fcmDeviceQuotaExceeded, after: nil),
            "send to that device less often"),
        FCMLegacyCode(
            "TOPICS_MESSAGE_RATE", "QUOTA_EXCEEDED, a topic", .slowDown(.fcmQuotaExceeded, after: .seconds(60)),
            "wait a minute at least"),
        FCMLegacyCode(
            "CONNECTION_DRAINING", "HTTP/2 GOAWAY", .retry(.fcmUnavailable, after: nil),
            "send again on a new connection"),
        FCMLegacyCode("SERVICE_UNAVAILABLE", "UNAVAILABLE", .retry(.fcmUnavailable, after: nil), "send again later"),
        FCMLegacyCode("INTERNAL_SERVER_ERROR", "INTERNAL", .retry(.fcmInternal, after: nil), "send again later"),
        FCMLegacyCode("BAD_ACK", "none", .config(.fcmUnexpectedStatus), "remove the acks: v1 has none"),
        FCMLegacyCode(
            "INVALID_APNS_CREDENTIAL", "THIRD_PARTY_AUTH_ERROR", .credential(.fcmThirdPartyAuth),
            "mend the APNs key in the Firebase project; tokens stay"),
        FCMLegacyCode(
            "AUTHENTICATION_FAILED", "THIRD_PARTY_AUTH_ERROR", .credential(.fcmThirdPartyAuth),
            "mend the web push certificate in the Firebase project; tokens stay"),
    ]

    private static let http = [
        FCMLegacyCode(
            "MissingRegistration", "INVALID_ARGUMENT", .refused(.fcmInvalidArgument), "the message names no target"),
        FCMLegacyCode(
            "InvalidRegistration", "INVALID_ARGUMENT, field message.token",
            .unregistered(.fcmInvalidToken, since: nil), "retire the token; check that it was not cut or padded"),
        FCMLegacyCode("NotRegistered", "UNREGISTERED", .unregistered(.fcmUnregistered, since: nil), "retire the token"),
        FCMLegacyCode(
            "InvalidPackageName", "INVALID_ARGUMENT", .refused(.fcmInvalidArgument),
            "restricted_package_name is not the token's"),
        FCMLegacyCode(
            "MismatchSenderId", "SENDER_ID_MISMATCH", .wrongProject(.fcmSenderIDMismatch),
            "the token belongs to another project"),
        FCMLegacyCode("InvalidParameters", "INVALID_ARGUMENT", .refused(.fcmInvalidArgument), "mend the message"),
        FCMLegacyCode(
            "MessageTooBig", "INVALID_ARGUMENT", .refused(.fcmInvalidArgument), "4,096 bytes, 2,048 to a topic"),
        FCMLegacyCode("InvalidDataKey", "INVALID_ARGUMENT", .refused(.fcmInvalidArgument), "rename the reserved key"),
        FCMLegacyCode("InvalidTtl", "INVALID_ARGUMENT", .refused(.fcmInvalidArgument), "0 to 2,419,200 seconds"),
        FCMLegacyCode("Unavailable", "UNAVAILABLE", .retry(.fcmUnavailable, after: nil), "send again later"),
        FCMLegacyCode("InternalServerError", "INTERNAL", .retry(.fcmInternal, after: nil), "send again later"),
        FCMLegacyCode(
            "DeviceMessageRateExceeded", "QUOTA_EXCEEDED, one device",
            .slowDown(.fcmDeviceQuotaExceeded, after: nil), "send to that device less often"),
        FCMLegacyCode(
            "TopicsMessageRateExceeded", "QUOTA_EXCEEDED, a topic", .slowDown(.fcmQuotaExceeded, after: .seconds(60)),
            "wait a minute at least"),
        FCMLegacyCode(
            "InvalidApnsCredential", "THIRD_PARTY_AUTH_ERROR", .credential(.fcmThirdPartyAuth),
            "mend the APNs key in the Firebase project; tokens stay"),
    ]
}
