import Testing

@testable import Simulator

@Suite struct DeviceModelTests {
    private func accept(
        _ model: inout DeviceModel, _ device: UInt64, _ id: String?,
        _ appearance: DeviceModel.Appearance = .deduplicated
    ) {
        let bytes = id.map { Array($0.utf8) }
        model.accept(device: device, id: bytes.map { (Hash64.hash($0, seed: 1), $0[...]) }, as: appearance)
    }

    @Test func `a repeated id is counted and not shown again`() {
        var model = DeviceModel(keepingIDs: 10)
        for id in ["a", "b", "a", "a"] { accept(&model, 1, id) }
        #expect(model.totals.accepted == 4)
        #expect(model.totals.distinctIDs == 2)
        #expect(model.totals.repeats == 2)
        #expect(model.totals.shown == 2)
        #expect(model.totals.devices == 1)
        #expect(model.totals.devicesShownMoreThanOnce == 0)
        #expect(model.device(1)?.distinct == 2)
        #expect(model.accepted(id: Hash64.hash(Array("a".utf8), seed: 1)) == 3)
    }

    @Test func `a system notification without a tag is shown again`() {
        var model = DeviceModel(keepingIDs: 10)
        for _ in 0..<3 { accept(&model, 1, "a", .system(tagged: false)) }
        accept(&model, 2, "b", .system(tagged: true))
        accept(&model, 2, "b", .system(tagged: true))
        #expect(model.totals.repeats == 3)
        #expect(model.totals.devicesShownMoreThanOnce == 1)
        #expect(model.device(1)?.shown == 3)
        #expect(model.device(1)?.shownAgain == 2)
        #expect(model.device(2)?.shown == 1)
    }

    @Test func `silent messages and messages without an id`() {
        var model = DeviceModel(keepingIDs: 10)
        accept(&model, 1, "a", .hidden)
        accept(&model, 1, nil)
        accept(&model, 1, nil)
        #expect(model.totals.shown == 2)
        #expect(model.totals.withoutID == 2)
        #expect(model.totals.distinctIDs == 1)
        #expect(model.totals.repeats == 0)
    }

    @Test func `one id on two devices is one id and two deliveries`() {
        var model = DeviceModel(keepingIDs: 10)
        accept(&model, 1, "a")
        accept(&model, 2, "a")
        accept(&model, 2, "a")
        #expect(model.totals.distinctIDs == 1)
        #expect(model.totals.distinctPairs == 2)
        #expect(model.totals.repeats == 1)
        #expect(model.totals.shown == 2)
    }

    @Test func `attempts count from zero, device by device`() {
        var model = DeviceModel(keepingIDs: 0)
        #expect([model.attempt(5), model.attempt(5), model.attempt(6)] == [0, 1, 0])
    }

    @Test func `the table holds what a dictionary holds`() {
        var table = HashTable<Device>()
        var reference: [UInt64: UInt32] = [:]
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<200_000 {
            // Few low bits, so that places collide.
            let hash = (generator.next() & 0xFF00_0000_0000_03FF) | (generator.next() & 0x3F << 32) | 1 << 40
            table.update(hash) { $0.attempts += 1 }
            reference[hash, default: 0] += 1
        }
        #expect(table.count == reference.count)
        #expect(reference.allSatisfy { table.find($0.key)?.attempts == $0.value })
        #expect(table.find(3) == nil)
        var rows = 0
        table.forEach { _ in rows += 1 }
        #expect(rows == reference.count)
    }

    @Test func `hashes of similar tokens differ and never are zero`() {
        let hashes = (0..<100_000).map { Hash64.hash(Array("token-\($0)".utf8), seed: 9) }
        #expect(Set(hashes).count == hashes.count)
        #expect(Set(hashes.map { $0 >> 56 }).count == 256)
        #expect(!hashes.contains(0))
        #expect(Hash64.hash([], seed: 0) != Hash64.hash([0], seed: 0))
        #expect(Hash64.hash([1, 0], seed: 0) != Hash64.hash([1], seed: 0))
    }

    @Test func `ids are kept in order up to the limit`() {
        var texts = NotificationTexts(limit: 5000)
        for number in 0..<6000 { texts.append(Array("id-\(number)".utf8)[...]) }
        #expect(texts.count == 5000)
        for index in [0, 1, 4095, 4096, 4999] { #expect(texts[index] == Array("id-\(index)".utf8)[...]) }
    }
}
