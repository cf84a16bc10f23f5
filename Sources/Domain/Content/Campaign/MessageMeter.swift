/// Weighs what a transport would send, with every placeholder replaced by its fallback (content model §9).
package protocol MessageMeter: Sendable {
    /// One report per transport and language, in any order; for a silent message the language is nil.
    func sizes(of message: Message, delivery: DeliveryOptions) -> [SizeReport]
}

/// What one language of a message weighs on one transport.
package struct SizeReport: Sendable, Equatable {
    package var transport: TransportKind
    package var language: String?
    package var bytes: Int
    package var limit: Int

    package init(transport: TransportKind, language: String?, bytes: Int, limit: Int) {
        self.transport = transport
        self.language = language
        self.bytes = bytes
        self.limit = limit
    }
}
