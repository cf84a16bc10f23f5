/// How one migration stands.
package struct MigrationStatus: Sendable, Equatable {
    package enum State: String, Sendable {
        case pending
        case applied
        /// Applied, from a file that was different.
        case edited
        /// Applied, by a binary that knows more than this one.
        case unknown
    }

    package let number: Int
    package let name: String
    package let state: State
    package let lowestBinary: Int
    /// By the database's clock, in microseconds since 1970; nil while pending.
    package let appliedAt: Int64?
    /// Whether workers may run while it is applied; nil when it is.
    package let isSafeWithWorkers: Bool?

    /// `0007_job_lease`
    package var title: String { Migration.title(number, name) }
}

/// A row of `pushfleet.migration`.
struct AppliedMigration: Sendable {
    enum Text: Sendable { case same, edited, unknown }

    let number: Int
    let name: String
    let lowestBinary: Int
    let appliedAt: Int64
    /// Compared with the file that this binary carries.
    let text: Text

    var title: String { Migration.title(number, name) }
}

extension [AppliedMigration] {
    /// - Throws: `edited`, `binaryTooOld`.
    func check() throws(SchemaError) {
        if let edited = first(where: { $0.text == .edited }) { throw .edited(edited.title) }
        if let newest = first(where: { $0.lowestBinary > BinaryLevel.current }) { throw .binaryTooOld(newest) }
    }

    func status(among known: [Migration]) -> [MigrationStatus] {
        let pending = known.filter { migration in !contains { $0.number == migration.number } }.map { migration in
            MigrationStatus(
                number: migration.number, name: migration.name, state: .pending, lowestBinary: migration.lowestBinary,
                appliedAt: nil, isSafeWithWorkers: migration.isSafeWithWorkers)
        }
        let applied = map { row in
            let state: MigrationStatus.State =
                switch row.text {
                case .same: .applied
                case .edited: .edited
                case .unknown: .unknown
                }
            return MigrationStatus(
                number: row.number, name: row.name, state: state, lowestBinary: row.lowestBinary,
                appliedAt: row.appliedAt, isSafeWithWorkers: nil)
        }
        return (applied + pending).sorted { $0.number < $1.number }
    }
}
