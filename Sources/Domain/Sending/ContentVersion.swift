/// What a run says, frozen: bound to a batch at its first claim.
package struct ContentVersion: Sendable {
    package typealias ID = Identifier<ContentVersion>
    package let id: ID
    /// Strictly valid content, presentation and data.
    package let message: Message
    package let delivery: DeliveryOptions
    /// The Android channel that `presentation.channelId` names, where the app defines it.
    package let channel: AndroidChannel?

    package init(id: ID, message: Message, delivery: DeliveryOptions, channel: AndroidChannel? = nil) {
        self.id = id
        self.message = message
        self.delivery = delivery
        self.channel = channel
    }

    /// The attributes that the message names, sorted, each once. Only these are read at claim.
    package var placeholderNames: [String] { message.placeholderNames }
}
