import Threading

/// A line for every send: microseconds, hash of the token (never the token), notification id, status, fault.
///
/// Separated by tabs; `-` where there is none. Status 0: no answer. Kept back until 64 KiB are there or a second has
/// passed, so that a line costs no system call.
struct Journal: Sendable {
    private static let limit = 65_536

    private let file: AppendingFile
    private let start: ContinuousClock.Instant
    private var buffer: [UInt8] = []
    /// The first failure; nothing is written after it.
    private(set) var failure: AppendingFile.Failure?

    init(path: String, start: ContinuousClock.Instant) throws(AppendingFile.Failure) {
        file = try AppendingFile(path: path)
        self.start = start
        buffer.reserveCapacity(Self.limit + 4096)
    }

    mutating func append(
        at now: ContinuousClock.Instant, device: UInt64?, id: ArraySlice<UInt8>?, status: Int, fault: String?
    ) {
        if failure != nil { return }
        let (seconds, attoseconds) = (now - start).components
        buffer.append(contentsOf: String(seconds * 1_000_000 + attoseconds / 1_000_000_000_000).utf8)
        buffer.append(UInt8(ascii: "\t"))
        if let device { JSONWriter.appendHex(device, to: &buffer) } else { buffer.append(UInt8(ascii: "-")) }
        buffer.append(UInt8(ascii: "\t"))
        for byte in id ?? [UInt8(ascii: "-")] { buffer.append(byte < 0x20 ? UInt8(ascii: "?") : byte) }
        buffer.append(UInt8(ascii: "\t"))
        buffer.append(contentsOf: String(status).utf8)
        buffer.append(UInt8(ascii: "\t"))
        buffer.append(contentsOf: (fault ?? "-").utf8)
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.limit { flush() }
    }

    mutating func flush() {
        guard failure == nil, !buffer.isEmpty else { return }
        do { try file.write(buffer) } catch { failure = error }
        buffer.removeAll(keepingCapacity: true)
    }
}
