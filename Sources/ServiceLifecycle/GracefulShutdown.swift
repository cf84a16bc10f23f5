import Threading

/// Whether the current task should come to an end, and who wants to be told. Child tasks inherit it.
final class GracefulShutdown: Sendable {
    @TaskLocal static var current: GracefulShutdown?

    private struct State: Sendable {
        var hasBegun = false
        var handlers: [UInt64: @Sendable () -> Void] = [:]
        var nextHandler: UInt64 = 0
    }

    private let state = Locked(State())

    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// Calls the handlers, on the caller's thread. Once.
    func begin() {
        let handlers = state.withLock { state in
            state.hasBegun = true
            defer { state.handlers = [:] }
            return state.handlers.values.map { $0 }
        }
        for handler in handlers { handler() }
    }

    /// - Returns: what `removeHandler` wants; nil if the shutdown has begun, and the handler was called at once.
    func addHandler(_ handler: @escaping @Sendable () -> Void) -> UInt64? {
        let key: UInt64? = state.withLock { state in
            if state.hasBegun { return nil }
            state.nextHandler += 1
            state.handlers[state.nextHandler] = handler
            return state.nextHandler
        }
        if key == nil { handler() }
        return key
    }

    func removeHandler(_ key: UInt64) {
        state.withLock { _ = $0.handlers.removeValue(forKey: key) }
    }
}

extension Task where Success == Never, Failure == Never {
    /// Whether a graceful shutdown was asked of the service that this task belongs to. False outside of a group.
    package static var isShuttingDownGracefully: Bool { GracefulShutdown.current?.hasBegun ?? false }
}
