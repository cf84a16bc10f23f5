import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct WakeupTests {
    private let farAway = ContinuousClock.now + .seconds(3600)

    @Test func `a signal without a waiter is kept for the next wait, once`() async {
        let wakeup = Wakeup()
        wakeup.signal()
        wakeup.signal()
        await wakeup.wait(until: farAway)
        let before = ContinuousClock.now
        await wakeup.wait(until: before + .milliseconds(20))
        #expect(before.duration(to: .now) >= .milliseconds(20))
    }

    @Test func `a wait without a signal ends at its deadline`() async {
        let before = ContinuousClock.now
        await Wakeup().wait(until: before + .milliseconds(30))
        let waited = before.duration(to: .now)
        #expect(waited >= .milliseconds(30))
        #expect(waited < .seconds(10))
    }

    @Test func `a deadline that has passed does not wait`() async {
        await Wakeup().wait(until: .now - .seconds(1))
    }

    @Test func `an earlier deadline is not held up by a later one`() async {
        async let _ = Wakeup().wait(until: farAway)
        let before = ContinuousClock.now
        await Wakeup().wait(until: before + .milliseconds(20))
        #expect(before.duration(to: .now) < .seconds(10))
        // Leaving the scope cancels the later one.
    }

    @Test func `cancellation ends a wait`() async {
        let wakeup = Wakeup()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await wakeup.wait(until: farAway) }
            group.cancelAll()
        }
    }

    @Test func `a task that was cancelled before does not wait`() async {
        let wakeup = Wakeup()
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask { await wakeup.wait(until: farAway) }
        }
    }

    @Test func `no signal is lost between two tasks that answer each other`() async {
        let ping = Wakeup()
        let pong = Wakeup()
        let rounds = 20_000
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<rounds {
                    ping.signal()
                    await pong.wait(until: farAway)
                }
            }
            group.addTask {
                for _ in 0..<rounds {
                    await ping.wait(until: farAway)
                    pong.signal()
                }
            }
        }
    }

    @Test func `signals from many threads race deadlines without a hang`() async {
        let wakeup = Wakeup()
        let seen = Locked(0)
        let total = 4000
        for number in 0..<4 {
            startThread(named: "signaller-\(number)") {
                for _ in 0..<(total / 4) {
                    seen.withLock { $0 += 1 }
                    wakeup.signal()
                }
            }
        }
        while seen.withLock({ $0 }) < total { await wakeup.wait(until: .now + .microseconds(50)) }
        #expect(seen.withLock { $0 } == total)
    }
}
