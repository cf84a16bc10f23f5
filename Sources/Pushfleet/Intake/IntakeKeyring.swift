import Crypto
import Postgres
import QueueStore
import Threading

/// The keys that callers show: looked up by their hash, remembered for some seconds, each with its own allowance.
final class IntakeKeyring: Sendable {
    enum Verdict: Sendable, Equatable {
        case welcome(IntakeKey)
        case unknown
        /// Within its rate again after so long.
        case tooOften(Duration)
    }

    private struct Entry: Sendable {
        /// nil = there is no such key.
        var key: IntakeKey?
        var goodUntil: ContinuousClock.Instant
        /// Calls that may be made at once.
        var allowance: Double
        var countedAt: ContinuousClock.Instant
    }

    /// A revoked key is refused after so long.
    static let memory = Duration.seconds(30)
    private static let memoryOfStrangers = Duration.seconds(5)
    /// More hashes are not kept, whatever strangers send.
    private static let mostEntries = 10_000

    private let rate: Double
    private let find: @Sendable ([UInt8]) async throws -> IntakeKey?
    private let entries = Locked<[[UInt8]: Entry]>([:])

    /// - Parameters:
    ///   - rate: calls a second for each key in this process; twice as many at once.
    ///   - find: the key with a hash.
    init(rate: Int, find: @escaping @Sendable ([UInt8]) async throws -> IntakeKey?) {
        self.rate = Double(rate)
        self.find = find
    }

    func verdict(on key: String, at now: ContinuousClock.Instant = .now) async throws -> Verdict {
        let hash = SHA256.hash(data: Array(key.utf8))
        if let known = take(hash, now) { return known }
        let found = try await find(hash)
        entries.withLock { entries in
            if entries.count >= Self.mostEntries { entries = entries.filter { $0.value.key != nil } }
            let span = found == nil ? Self.memoryOfStrangers : Self.memory
            // Who was known keeps the allowance that is left.
            var entry =
                entries[hash] ?? Entry(key: found, goodUntil: now, allowance: rate * 2, countedAt: now)
            (entry.key, entry.goodUntil) = (found, now + span)
            entries[hash] = entry
        }
        return take(hash, now) ?? .unknown
    }

    /// nil = it must be looked up.
    private func take(_ hash: [UInt8], _ now: ContinuousClock.Instant) -> Verdict? {
        entries.withLock { entries in
            guard var entry = entries[hash], entry.goodUntil > now else { return nil }
            guard let key = entry.key else { return .unknown }
            let passed = now - entry.countedAt
            let seconds = Double(passed.components.seconds) + Double(passed.components.attoseconds) / 1e18
            entry.allowance = min(rate * 2, entry.allowance + max(0, seconds) * rate)
            entry.countedAt = max(now, entry.countedAt)
            defer { entries[hash] = entry }
            guard entry.allowance >= 1 else { return .tooOften(.seconds((1 - entry.allowance) / rate)) }
            entry.allowance -= 1
            return .welcome(key)
        }
    }
}
