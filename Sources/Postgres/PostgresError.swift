/// Why a statement has no result. Quotes no row, no parameter and no password.
package struct PostgresError: Error, Sendable {
    /// What a caller decides by, and the label of metrics.
    package enum Code: String, Sendable, CaseIterable {
        /// No connection: refused, not answered in time, or the host is unknown.
        case connectionFailed
        /// The connection ended under a statement.
        case connectionLost
        /// The deadline of the call passed. If the statement had been sent, its connection was closed.
        case deadlineExceeded
        case serializationFailure
        case deadlock
        case lockNotAvailable
        /// The server is shutting down or starting up.
        case shuttingDown
        /// Cancelled on the server (`statement_timeout` among others), or the task was cancelled before sending.
        case queryCanceled
        case tooManyConnections
        /// The server is a standby, or a failover made it one.
        case readOnly
        case uniqueViolation
        case checkViolation
        case notNullViolation
        case foreignKeyViolation
        /// A table, column, function, schema or database that is not there: a migration has not run, as a rule.
        case undefinedObject
        /// Not allowed to log in, or to do this.
        case insufficientPrivilege
        case invalidValue
        case syntax
        /// `RAISE` in a function of ours; `detail` is kept for this one.
        case raised
        /// A migration changed what a prepared statement stands on, or a connection pooler lost it. Not executed; the
        /// next attempt prepares it anew.
        case staleStatement
        /// The transaction had failed in an earlier statement, so that its commit did nothing.
        case failedTransaction
        /// The answer is not what the call asks for.
        case malformedResult
        /// The client was closed.
        case closed
        case other
    }

    package let code: Code
    /// Five characters (PostgreSQL manual, appendix A) when the server gave the error.
    package let sqlState: String?
    /// The server's primary message, or ours.
    package let message: String
    /// The server's DETAIL, only of `raised`: elsewhere it quotes rows.
    package let detail: String?
    package let constraint: String?
    /// The statement had been sent and the server did not say how it ended.
    package let mayHaveTakenEffect: Bool

    package init(
        _ code: Code, _ message: String, sqlState: String? = nil, detail: String? = nil, constraint: String? = nil,
        mayHaveTakenEffect: Bool = false
    ) {
        self.code = code
        self.message = message
        self.sqlState = sqlState
        self.detail = detail
        self.constraint = constraint
        self.mayHaveTakenEffect = mayHaveTakenEffect
    }

    /// The same a moment later may succeed. Repeat by oneself only what does no harm twice, or when
    /// `mayHaveTakenEffect` is false.
    package var isTransient: Bool {
        switch code {
        case .connectionFailed, .connectionLost, .serializationFailure, .deadlock, .shuttingDown, .tooManyConnections,
            .readOnly, .staleStatement:
            true
        case .deadlineExceeded, .lockNotAvailable, .queryCanceled, .uniqueViolation, .checkViolation, .notNullViolation,
            .foreignKeyViolation, .undefinedObject, .insufficientPrivilege, .invalidValue, .syntax, .raised,
            .failedTransaction, .malformedResult, .closed, .other:
            false
        }
    }

    /// The same error of a statement whose transaction was rolled back, or was never committed.
    func withoutEffect() -> PostgresError {
        PostgresError(code, message, sqlState: sqlState, detail: detail, constraint: constraint)
    }
}

extension PostgresError: CustomStringConvertible {
    /// One line. The detail stays out, which may quote what the caller passed.
    package var description: String {
        var text = message
        if let sqlState { text += " (SQLSTATE \(sqlState))" }
        if mayHaveTakenEffect { text += "; the statement may have taken effect" }
        return text
    }
}
