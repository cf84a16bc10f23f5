import TestSupport
import Testing

@testable import Postgres

@Suite struct ReconnectGateTests {
    private let start = ContinuousClock.now
    private let failure = PostgresError(.connectionFailed, "refused")

    @Test func `it is open while nothing failed`() {
        var gate = ReconnectGate()
        #expect(gate.ask(now: start, isUrgent: true, draw: 0) == .connect)
        #expect(gate.ask(now: start, isUrgent: true, draw: 0) == .connect)
    }

    @Test(arguments: [
        (1, 25, 50), (2, 50, 100), (4, 200, 400), (5, 400, 800), (30, 400, 800),
    ]) func `delays double up to a limit, and are drawn from the upper half`(failures: Int, least: Int, most: Int) {
        for (draw, expected) in [(0.0, least), (1.0, most)] {
            var gate = ReconnectGate()
            for _ in 0..<failures { gate.fail(failure, now: start, isUrgent: true, draw: draw) }
            let turn = start + .milliseconds(expected)
            #expect(gate.ask(now: start, isUrgent: true, draw: draw) == .wait(until: turn))
            #expect(gate.ask(now: turn, isUrgent: true, draw: draw) == .connect)
        }
    }

    @Test func `without a query that waits the limit is longer`() {
        var gate = ReconnectGate()
        for _ in 0..<30 { gate.fail(failure, now: start, isUrgent: false, draw: 1) }
        #expect(gate.ask(now: start, isUrgent: false, draw: 1) == .wait(until: start + .seconds(2)))
    }

    @Test func `one attempt at a time has permission`() {
        var gate = ReconnectGate()
        gate.fail(failure, now: start, isUrgent: true, draw: 1)
        let turn = start + .milliseconds(50)
        #expect(gate.ask(now: turn, isUrgent: true, draw: 1) == .connect)
        #expect(gate.ask(now: turn, isUrgent: true, draw: 1) == .wait(until: turn + .milliseconds(50)))
    }

    @Test func `success opens it, and tells how long the outage was`() {
        var gate = ReconnectGate()
        gate.fail(failure, now: start, isUrgent: true, draw: 1)
        gate.fail(failure, now: start + .seconds(1), isUrgent: true, draw: 1)
        #expect(gate.lastFailure?.code == .connectionFailed)
        #expect(gate.succeed(now: start + .seconds(3)) == .seconds(3))
        #expect(gate.succeed(now: start + .seconds(4)) == nil && gate.lastFailure == nil)
        #expect(gate.ask(now: start, isUrgent: true, draw: 1) == .connect)
    }
}
