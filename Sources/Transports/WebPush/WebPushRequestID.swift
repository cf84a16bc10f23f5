import Domain

/// What a request has to remember until it is answered, in the number that the client hands back: the ticket and which
/// of the message's bodies was sent.
struct WebPushRequestID {
    let rawValue: UInt64

    init(rawValue: UInt64) { self.rawValue = rawValue }

    /// - Parameter body: index of a language, below 65,536.
    init(ticket: Ticket, body: Int) {
        rawValue =
            UInt64(ticket.batch) << 32 | UInt64(UInt16(bitPattern: ticket.ordinal)) << 16
            | UInt64(UInt16(truncatingIfNeeded: body))
    }

    var ticket: Ticket {
        Ticket(
            batch: UInt32(truncatingIfNeeded: rawValue >> 32), ordinal: Int16(truncatingIfNeeded: rawValue >> 16))
    }

    var body: Int { Int(rawValue & 0xFFFF) }
}
