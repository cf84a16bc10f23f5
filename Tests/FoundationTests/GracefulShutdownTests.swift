import ServiceLifecycle
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct GracefulShutdownTests {
    @Test func `a task sees that it is shutting down, and so do its children`() async {
        #expect(!Task.isShuttingDownGracefully)
        await testGracefulShutdown { trigger in
            #expect(!Task.isShuttingDownGracefully)
            trigger.triggerGracefulShutdown()
            #expect(Task.isShuttingDownGracefully)
            async let child = Task.isShuttingDownGracefully
            #expect(await child)
        }
    }

    @Test func `gracefulShutdown waits for the trigger`() async throws {
        try await testGracefulShutdown { trigger in
            let hasEnded = Locked(false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await gracefulShutdown()
                    hasEnded.withLock { $0 = true }
                }
                // Many turns, in which one that waits for nothing would have ended.
                for _ in 0..<1000 { await Task.yield() }
                #expect(!hasEnded.withLock { $0 })
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
            #expect(hasEnded.withLock { $0 })
        }
    }

    @Test func `gracefulShutdown ends with the task`() async {
        await #expect(throws: CancellationError.self) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await gracefulShutdown() }
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    @Test(arguments: [true, false])
    func `a handler is called once, whether the shutdown has begun or not`(hasBegun: Bool) async {
        let calls = Locked(0)
        await testGracefulShutdown { trigger in
            if hasBegun { trigger.triggerGracefulShutdown() }
            await withGracefulShutdownHandler {
                trigger.triggerGracefulShutdown()
                trigger.triggerGracefulShutdown()
            } onGracefulShutdown: {
                calls.withLock { $0 += 1 }
            }
        }
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func `a handler is forgotten with its operation`() async {
        await testGracefulShutdown { trigger in
            await withGracefulShutdownHandler {
            } onGracefulShutdown: {
                Issue.record("The operation was over.")
            }
            trigger.triggerGracefulShutdown()
        }
    }

    @Test func `cancelWhenGracefulShutdown cancels its operation and gives what it makes of that`() async {
        await testGracefulShutdown { trigger in
            let result = await cancelWhenGracefulShutdown {
                trigger.triggerGracefulShutdown()
                await Wakeup().wait(until: .now + .seconds(3600))
                return Task.isCancelled
            }
            #expect(result)
            await #expect(throws: CancellationError.self) {
                try await cancelWhenGracefulShutdown {
                    await Wakeup().wait(until: .now + .seconds(3600))
                    try Task.checkCancellation()
                }
            }
            #expect(!Task.isCancelled)
        }
    }

    @Test func `cancelWhenGracefulShutdown without a shutdown gives the result`() async throws {
        #expect(await cancelWhenGracefulShutdown { 7 } == 7)
        await #expect(throws: Fault.self) { try await cancelWhenGracefulShutdown { throw Fault() } }
    }

    private struct Fault: Error {}
}
