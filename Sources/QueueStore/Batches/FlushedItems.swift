import Domain
import Postgres

/// What a flush says of batches, a column to each array.
struct FlushedBatches {
    var ids: [Int64] = []
    var epochs: [Int32] = []
    var announcements: [Int32] = []

    init(_ held: [Flush.Held]) {
        ids = held.map(\.batch.rawValue)
        epochs = held.map(\.epoch)
        announcements = held.map(\.announce)
    }
}

/// What a flush says of jobs, a column to each array. One of nothing but nil is empty: unnested beside others it is NULL as
/// often as they are long, and costs nothing.
struct FlushedItems {
    let batches: [Int64]
    let ordinals: [Int16]
    let numbers: [Int64]
    let subscribers: [Int64]
    /// 0 = try again.
    let outcomes: [Int16]
    let statuses: [Int16?]
    let reasons: [Int16]
    let attempts: [Int16]
    let left: [Bool?]
    /// Milliseconds.
    let waits: [Int64?]
    let frees: [Bool?]
    /// nil = the batch's.
    let routes: [Int64?]
    let addressVersions: [Int32?]
    let providerIDs: [String?]
    let languages: [String?]
    let asked: [String?]
    let expiries: [PostgresTimestamp?]
    let contentVersions: [Int64?]
    let begun: [Int32?]
    let latencies: [Int32?]
    let evidence: [Int16?]
    let firstAttempts: [PostgresTimestamp?]

    init(_ items: [Flush.Item]) {
        batches = items.map(\.batch.rawValue)
        ordinals = items.map(\.ordinal)
        numbers = items.map(\.number)
        subscribers = items.map(\.subscriber.rawValue)
        outcomes = items.map { $0.outcome?.rawValue ?? 0 }
        statuses = items.map(\.status)
        reasons = items.map(\.reason.rawValue)
        attempts = items.map(\.attempts)
        left = Self.sparse(items.map { $0.mayHaveLeft ? true : nil })
        waits = Self.sparse(items.map { $0.wait > .zero ? $0.wait.microseconds / 1000 : nil })
        frees = Self.sparse(items.map { $0.free ? true : nil })
        routes = Self.sparse(items.map { $0.route?.rawValue })
        addressVersions = items.map(\.addressVersion)
        providerIDs = items.map(\.providerID)
        languages = items.map(\.language)
        asked = items.map(\.asked)
        expiries = Self.sparse(items.map { $0.expiresAt?.timestamp })
        contentVersions = Self.sparse(items.map { $0.contentVersion?.rawValue })
        begun = items.map(\.begunMillisecondsAgo)
        latencies = items.map(\.latencyMilliseconds)
        evidence = Self.sparse(items.map { $0.evidence?.rawValue })
        firstAttempts = Self.sparse(items.map { $0.firstAttemptAt?.timestamp })
    }

    private static func sparse<Value>(_ values: [Value?]) -> [Value?] {
        values.contains { $0 != nil } ? values : []
    }
}
