import Postgres

/// Why a schema cannot be used or changed, and what mends it.
package struct SchemaError: Error, CustomStringConvertible {
    package enum Code: String, Sendable, CaseIterable {
        /// Migrations of this binary have not been applied.
        case behind
        /// A file was edited after it ran.
        case edited
        /// A migration that this binary does not know excludes binaries as old as it.
        case binaryTooOld
        /// A migration comes before one that has been applied already.
        case outOfOrder
        /// The way back of a migration is in another binary.
        case unknownMigration
        /// A file is not what a migration looks like.
        case malformedFile
        /// PostgreSQL refused a statement; nothing of its migration was left.
        case statementFailed
    }

    package let code: Code
    /// What is wrong.
    package let message: String
    /// What to do about it.
    package let remedy: String
    package let underlying: PostgresError?

    init(_ code: Code, _ message: String, remedy: String, underlying: PostgresError? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.underlying = underlying
    }

    package var description: String { "\(message); \(remedy)" }
}

extension SchemaError {
    static func malformed(_ file: String, _ message: String) -> Self {
        SchemaError(.malformedFile, "migration \(file): \(message)", remedy: "see Migrations/README.md")
    }

    static func behind(_ pending: [Migration]) -> Self {
        let titles = pending.map(\.title).joined(separator: ", ")
        return SchemaError(
            .behind, "the schema is behind this binary: \(titles) not applied", remedy: "run: pushfleet migrate up")
    }

    static func edited(_ title: String) -> Self {
        SchemaError(
            .edited, "migration \(title) was edited after it ran",
            remedy: "restore the file and put the change into a new migration, or run the binary that applied it")
    }

    static func binaryTooOld(_ migration: AppliedMigration) -> Self {
        SchemaError(
            .binaryTooOld,
            "the schema needs a binary of level \(migration.lowestBinary) since migration \(migration.title), "
                + "and this one has level \(BinaryLevel.current)",
            remedy: "install the newer binary, or run with it: pushfleet migrate down --to \(migration.number - 1)")
    }

    static func outOfOrder(_ migration: Migration, after applied: AppliedMigration) -> Self {
        SchemaError(
            .outOfOrder, "migration \(migration.title) comes before \(applied.title), which has been applied",
            remedy: "give it a higher number, or run first: pushfleet migrate down --to \(migration.number - 1)")
    }

    static func unknown(_ migration: AppliedMigration) -> Self {
        SchemaError(
            .unknownMigration, "this binary does not know the way back of migration \(migration.title)",
            remedy: "run pushfleet migrate down with the binary that applied it")
    }

    static func failed(
        _ statement: SQLStatement, _ position: Int, in migration: Migration, _ direction: String, _ error: PostgresError
    ) -> Self {
        let remedy =
            error.code == .lockNotAvailable || error.isTransient
            ? "nothing of it was left; run the command again, at a quieter moment"
            : "nothing of it was left; mend the file, then run the command again"
        return SchemaError(
            .statementFailed,
            "migration \(migration.title).\(direction).sql, statement \(position) (line \(statement.line)): \(error)",
            remedy: remedy, underlying: error)
    }
}
