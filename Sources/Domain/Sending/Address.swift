/// Where a subscriber's notifications go. Confidential: it appears in no log, error, metric or report.
package struct Address: Sendable, Hashable {
    /// A device token, a registration token, or a push service's URL.
    package var text: String
    /// APNs only.
    package var environment: PushEnvironment
    /// Web Push only: the browser's public key and shared secret, in base64url as the browser gave them.
    package var p256dh: String?
    package var auth: String?
    /// Web Push only: whose key the browser subscribed with; nil = the newest that the app has.
    package var vapidKey: Credential.ID?

    package init(
        text: String, environment: PushEnvironment = .unknown, p256dh: String? = nil, auth: String? = nil,
        vapidKey: Credential.ID? = nil
    ) {
        self.text = text
        self.environment = environment
        self.p256dh = p256dh
        self.auth = auth
        self.vapidKey = vapidKey
    }
}
