/// Blocks of the FCM v1 message that an author adds for one platform, checked but otherwise as written, in snake or
/// camel case (decisions.md "Content"). A transport merges what concerns it over what the content gives.
package struct Overrides: Sendable, Equatable {
    package var android: JSONValue?
    package var apns: JSONValue?
    package var webpush: JSONValue?

    package static let none = Overrides()

    package init(android: JSONValue? = nil, apns: JSONValue? = nil, webpush: JSONValue? = nil) {
        self.android = android
        self.apns = apns
        self.webpush = webpush
    }
}
