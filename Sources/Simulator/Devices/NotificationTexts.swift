/// The first so many notification ids as they were written, in the order in which they came.
///
/// In chunks, since one growing array would be copied while requests wait.
struct NotificationTexts: Sendable {
    private static let chunkCount = 4096

    private struct Chunk: Sendable {
        var bytes: [UInt8] = []
        var ends: [Int] = []
    }

    let limit: Int
    private(set) var count = 0
    private var chunks: [Chunk] = []

    init(limit: Int) {
        self.limit = limit
    }

    mutating func append(_ text: ArraySlice<UInt8>) {
        guard count < limit else { return }
        if count % Self.chunkCount == 0 {
            chunks.append(Chunk())
            chunks[chunks.count - 1].ends.reserveCapacity(Self.chunkCount)
        }
        chunks[chunks.count - 1].bytes.append(contentsOf: text)
        chunks[chunks.count - 1].ends.append(chunks[chunks.count - 1].bytes.count)
        count += 1
    }

    subscript(index: Int) -> ArraySlice<UInt8> {
        let chunk = chunks[index / Self.chunkCount]
        let place = index % Self.chunkCount
        return chunk.bytes[(place == 0 ? 0 : chunk.ends[place - 1])..<chunk.ends[place]]
    }
}
