/// One statement of a file, since a statement is what PostgreSQL takes with parameters and what an error is about.
struct SQLStatement: Equatable {
    /// Without the semicolon, with the comments before it.
    let text: String
    /// Where it begins, from 1, past those comments.
    let line: Int
    /// In upper case.
    let firstWord: String

    /// What would end the transaction in which a migration runs, or pretend to.
    var isTransactionControl: Bool {
        ["BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "PREPARE"].contains(firstWord)
    }

    /// Cuts a text at each semicolon that stands in no quotes and no comment (PostgreSQL manual 4.1).
    static func split(_ text: String) -> [SQLStatement] {
        var scanner = SQLScanner(text)
        return scanner.statements()
    }
}
