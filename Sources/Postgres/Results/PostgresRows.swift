import CLibPQ

/// The answer to one statement: a collection of rows, in libpq's own memory, which is freed with it.
///
/// `@unchecked Sendable`: a `PGresult` is read-only once it is there (PostgreSQL manual 34.20), and so is this.
package final class PostgresRows: @unchecked Sendable {
    /// Owned. What a row reads from.
    let result: OpaquePointer
    package let count: Int

    init(adopting result: OpaquePointer) {
        self.result = result
        count = Int(PQntuples(result))
    }

    deinit { PQclear(result) }

    /// Rows that the statement inserted, updated, deleted, selected or copied; 0 for what counts none.
    package var affected: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// What the statement was: `SELECT`, `COMMIT`, …
    var command: String { String(cString: PQcmdStatus(result)) }
}

extension PostgresRows: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    package subscript(position: Int) -> PostgresRow {
        precondition(position >= 0 && position < count, "No row \(position) among \(count).")
        return PostgresRow(rows: self, index: Int32(position))
    }
}
