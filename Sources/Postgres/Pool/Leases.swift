import Threading

/// Who has which connection, and who waits for one: first come, first served.
struct Leases: Sendable {
    /// A caller in the queue.
    struct Waiter: Sendable {
        let ticket: UInt64
        let wakeup: Wakeup
    }

    private let count: Int
    /// Free ones; the last was used last.
    private var free: [PostgresConnection]
    private var waiters: [Waiter] = []
    /// Handed over, not yet picked up.
    private var handedOver: [UInt64: PostgresConnection] = [:]
    private var lastTicket: UInt64 = 0
    private(set) var isClosed = false
    /// Signalled when the last connection is back, once closed.
    private var closer: Wakeup?

    init(_ connections: [PostgresConnection]) {
        free = connections
        count = connections.count
    }

    var waiting: Int { waiters.count }

    var areAllBack: Bool { free.count == count }

    /// A connection, unless there is none or others came before.
    mutating func take() -> PostgresConnection? { waiters.isEmpty ? free.popLast() : nil }

    /// This connection, for looking after it.
    /// - Returns: false if it is not free, or the client is closed.
    mutating func take(_ connection: PostgresConnection) -> Bool {
        guard !isClosed, let index = free.firstIndex(where: { $0 === connection }) else { return false }
        free.remove(at: index)
        return true
    }

    mutating func enqueue() -> Waiter {
        lastTicket += 1
        let waiter = Waiter(ticket: lastTicket, wakeup: Wakeup())
        waiters.append(waiter)
        return waiter
    }

    /// What the waiter was given while it waited; nil takes it out of the queue.
    mutating func leave(_ waiter: Waiter) -> PostgresConnection? {
        if let connection = handedOver.removeValue(forKey: waiter.ticket) { return connection }
        waiters.removeAll { $0.ticket == waiter.ticket }
        return nil
    }

    /// Hands the connection to the first in the queue.
    /// - Returns: whom to wake.
    mutating func giveBack(_ connection: PostgresConnection) -> Wakeup? {
        guard !waiters.isEmpty else {
            // A broken one is taken last: it costs whoever takes it the time to connect.
            free.insert(connection, at: connection.isConnected ? free.count : 0)
            return isClosed && areAllBack ? closer : nil
        }
        let waiter = waiters.removeFirst()
        handedOver[waiter.ticket] = connection
        return waiter.wakeup
    }

    /// Turns away who waits and who comes.
    /// - Parameter closer: is told when all connections are back.
    /// - Returns: whom to wake.
    mutating func close(_ closer: Wakeup) -> [Wakeup] {
        isClosed = true
        self.closer = closer
        defer { waiters = [] }
        return waiters.map(\.wakeup)
    }
}
