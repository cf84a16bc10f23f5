/// A row of a `HashTable`: found by its hash alone.
protocol HashRow: Sendable {
    /// 0 marks an empty place.
    var hash: UInt64 { get }
    static var empty: Self { get }
    init(hash: UInt64)
}

/// Rows by 64-bit hash, with open addressing and nothing else in memory, so that ten million devices fit.
///
/// Split into 256 parts that grow one by one: doubling one table of that size would hold every answer back for a second.
/// Different keys share a row when their hashes are equal: among ten million, the odds for any such pair are 3 in 10^6.
struct HashTable<Row: HashRow>: Sendable {
    private struct Part: Sendable {
        var rows = [Row](repeating: .empty, count: 16)
        var count = 0
    }

    private var parts = [Part](repeating: Part(), count: 256)
    private(set) var count = 0

    func find(_ hash: UInt64) -> Row? {
        let part = parts[Self.part(of: hash)]
        let row = part.rows[Self.place(of: hash, in: part.rows)]
        return row.hash == hash ? row : nil
    }

    /// Changes the row of `hash`, a new one if there was none.
    mutating func update<Result>(_ hash: UInt64, _ change: (inout Row) -> Result) -> Result {
        let part = Self.part(of: hash)
        var place = Self.place(of: hash, in: parts[part].rows)
        if parts[part].rows[place].hash != hash {
            if parts[part].count * 4 >= parts[part].rows.count * 3 {
                grow(part)
                place = Self.place(of: hash, in: parts[part].rows)
            }
            parts[part].rows[place] = Row(hash: hash)
            parts[part].count += 1
            count += 1
        }
        return change(&parts[part].rows[place])
    }

    func forEach(_ body: (Row) -> Void) {
        for part in parts {
            for row in part.rows where row.hash != 0 { body(row) }
        }
    }

    private mutating func grow(_ part: Int) {
        let old = parts[part].rows
        var rows = [Row](repeating: .empty, count: old.count * 2)
        for row in old where row.hash != 0 { rows[Self.place(of: row.hash, in: rows)] = row }
        parts[part].rows = rows
    }

    private static func part(of hash: UInt64) -> Int { Int(hash >> 56) }

    /// Where the row is, or the empty place where it would be.
    private static func place(of hash: UInt64, in rows: [Row]) -> Int {
        let mask = rows.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while rows[place].hash != hash, rows[place].hash != 0 { place = (place + 1) & mask }
        return place
    }
}
