import Glibc
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct ThreadExecutorTests {
    private actor Counter {
        let executor = ThreadExecutor(name: "counter")
        private var count = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func increment() -> Int {
            count += 1
            return count
        }

        func thread() -> pthread_t { pthread_self() }

        deinit { executor.shutdown() }
    }

    @Test func `every job of an actor runs on one thread of its own`() async {
        let counter = Counter()
        let first = await counter.thread()
        #expect(first != testThread())
        for _ in 0..<100 { #expect(await counter.thread() == first) }
    }

    @Test func `jobs run one at a time`() async {
        let counter = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<500 { _ = await counter.increment() } }
            }
        }
        #expect(await counter.increment() == 4001)
    }

    @Test func `a job that comes after shutdown still runs`() async {
        let counter = Counter()
        #expect(await counter.increment() == 1)
        counter.executor.shutdown()
        for expected in 2...50 { #expect(await counter.increment() == expected) }
    }

    @Test func `the thread ends after shutdown`() async {
        var counter: Counter? = Counter()
        _ = await counter?.increment()
        weak let executor = counter?.executor  // kept by the actor and by the thread
        counter = nil
        await Wakeup().wait(untilTrue: { executor == nil })
    }

    private func testThread() -> pthread_t { pthread_self() }
}

extension Wakeup {
    /// Looks again every millisecond, for what signals nobody. The suite's time limit ends it.
    fileprivate func wait(untilTrue condition: () -> Bool) async {
        while !condition() { await wait(until: .now + .milliseconds(1)) }
    }
}
