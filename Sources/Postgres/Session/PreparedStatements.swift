/// The statements that one connection has prepared.
struct PreparedStatements {
    /// A name that is prepared, or is to be.
    struct Entry {
        let sql: String
        let types: [UInt32]
        let name: String
    }

    /// Enough for every statement of a program; names of partitions in the text may make more over the months.
    static let limit = 256

    private var entries: [UInt64: Entry] = [:]
    private var generation = 0

    var isFull: Bool { entries.count >= Self.limit }

    /// Of the text and the types of the parameters: the bytes of a parameter mean nothing without its type.
    static func key(_ query: PostgresQuery) -> UInt64 {
        // FNV-1a over words of eight bytes: Hashable's own hash takes several times as long for a page of SQL.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func mix(_ word: UInt64) { hash = (hash ^ word) &* 0x0000_0100_0000_01b3 }
        var sql = query.sql
        sql.withUTF8 { text in
            let bytes = UnsafeRawBufferPointer(text)
            var offset = 0
            while offset + 8 <= bytes.count {
                mix(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                hash ^= hash >> 29
                offset += 8
            }
            while offset < bytes.count {
                mix(UInt64(bytes[offset]))
                offset += 1
            }
        }
        for parameter in query.parameters { mix(UInt64(parameter.oid)) }
        return hash
    }

    /// The entry of that key; nil if there is none or, against all odds, it is of another statement.
    func find(_ query: PostgresQuery, key: UInt64) -> Entry? {
        guard let entry = entries[key], entry.sql == query.sql, entry.types.count == query.parameters.count,
            zip(entry.types, query.parameters).allSatisfy({ $0 == $1.oid })
        else { return nil }
        return entry
    }

    /// The name says which statement it is: where connections share a server's session behind a pooler, against its
    /// rules, a name that exists already must not stand for another text.
    func makeEntry(_ query: PostgresQuery, key: UInt64) -> Entry {
        let name = "p\(String(key, radix: 16))_\(generation)"
        return Entry(sql: query.sql, types: query.parameters.map(\.oid), name: name)
    }

    mutating func add(_ entry: Entry, key: UInt64) { entries[key] = entry }

    /// Forgets all. What is prepared from now on has other names.
    mutating func removeAll() {
        entries.removeAll()
        generation += 1
    }
}
