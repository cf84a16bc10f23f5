/// What a run says, frozen: bound to a batch at its first claim.
package struct ContentVersion: Sendable {
    package typealias ID = Identifier<ContentVersion>
    package let id: ID
    /// Strictly valid content, presentation and data.
    package let message: Message
    package let delivery: DeliveryOptions

    package init(id: ID, message: Message, delivery: DeliveryOptions) {
        self.id = id
        self.message = message
        self.delivery = delivery
    }

    /// The attributes that the message names, sorted, each once. Only these are read at claim.
    package var placeholderNames: [String] { message.placeholderNames }
}
