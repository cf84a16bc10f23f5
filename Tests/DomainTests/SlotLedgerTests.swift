import Domain
import Testing

@Suite struct SlotLedgerTests {
    private static let start = Instant(microseconds: 1_900_000_000_000_000)
    private let margin = Duration.milliseconds(1)

    private func at(_ milliseconds: Int) -> Instant { Self.start + .milliseconds(milliseconds) }

    private func ledger(_ slots: (Int, Int)...) -> SlotLedger {
        var ledger = SlotLedger()
        ledger.add(slots.map { RateSlots(beginsAt: at($0.0), count: $0.1) })
        return ledger
    }

    @Test func `slots come due one after another in the first half of their slice`() {
        var ledger = ledger((0, 24))
        #expect(ledger.take(atMost: 99, at: at(0), margin: margin) == nil)
        #expect(ledger.take(atMost: 99, at: at(1), margin: margin)?.count == 1)
        #expect(ledger.nextDue(margin: margin) == at(2))
        #expect(ledger.take(atMost: 99, at: at(4), margin: margin)?.count == 3)
        #expect(ledger.take(atMost: 5, at: at(25), margin: margin)?.count == 5)
        #expect(ledger.take(atMost: 99, at: at(25), margin: margin)?.count == 15)
        #expect(ledger.take(atMost: 99, at: at(26), margin: margin) == nil)
    }

    @Test func `a slot must be used before its slice ends, early enough to leave within it`() {
        var ledger = ledger((0, 10), (50, 10))
        #expect(ledger.take(atMost: 3, at: at(33), margin: margin)?.endsAt == at(34))
        #expect(ledger.left(at: at(33), margin: margin) == 17)
        #expect(ledger.left(at: at(34), margin: margin) == 10)
        #expect(ledger.take(atMost: 99, at: at(34), margin: margin) == nil)
        #expect(ledger.left(at: at(200), margin: margin) == 0)
        #expect(ledger.nextDue(margin: margin) == nil)
    }

    @Test func `nothing is begun before its slice, in whatever order slices came`() {
        var ledger = ledger((150, 4), (50, 4))
        #expect(ledger.nextDue(margin: margin) == at(51))
        #expect(ledger.reach == at(150))
        #expect(ledger.take(atMost: 99, at: at(50), margin: margin) == nil)
        #expect(ledger.take(atMost: 99, at: at(80), margin: margin)?.count == 4)
        #expect(ledger.take(atMost: 99, at: at(149), margin: margin) == nil)
    }
}
