import Testing

@testable import HTTP2

@Suite struct QueueTests {
    @Test func `timers come out in the order in which they are due`() {
        let start = ContinuousClock.now
        var random = SplitMix(state: 3)
        var heap = TimerHeap<Int>()
        let delays = (0..<500).map { _ in Int(random.next() % 200) }
        for delay in delays { heap.insert(delay, at: start + .milliseconds(delay)) }
        #expect(heap.take(dueAt: start - .milliseconds(1)) == nil)
        var taken: [Int] = []
        while let next = heap.take(dueAt: start + .milliseconds(99)) { taken.append(next) }
        #expect(taken == delays.filter { $0 < 100 }.sorted())
        while let next = heap.take(dueAt: start + .seconds(1)) { taken.append(next) }
        #expect(taken == delays.sorted())
        #expect(heap.next == nil)
    }

    @Test func `a queue gives back what it got, in order`() {
        var random = SplitMix(state: 5)
        var fifo = FIFO<Int>()
        var expected: [Int] = []
        for number in 0..<20_000 {
            if random.next() % 5 < 3 {
                fifo.append(number)
                expected.append(number)
            } else if let first = fifo.first {
                #expect(first == expected.removeFirst())
                fifo.removeFirst()
            }
            #expect(fifo.count == expected.count)
        }
        var removed: [Int] = []
        fifo.remove(where: { $0.isMultiple(of: 3) }) { removed.append($0) }
        #expect(removed == expected.filter { $0.isMultiple(of: 3) })
        var rest: [Int] = []
        fifo.forEach { rest.append($0) }
        #expect(rest == expected.filter { !$0.isMultiple(of: 3) })
    }
}
