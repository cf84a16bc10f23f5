extension PostgresError.Code {
    /// The class of an SQLSTATE: PostgreSQL manual, appendix A.
    package init(sqlState: String) {
        self =
            switch sqlState {
            case "40001": .serializationFailure
            case "40P01": .deadlock
            case "55P03": .lockNotAvailable
            case "57014": .queryCanceled
            // admin_shutdown, crash_shutdown, cannot_connect_now, database_dropped; idle_session_timeout
            case "57P01", "57P02", "57P03", "57P05": .shuttingDown
            case "53300": .tooManyConnections
            case "25006": .readOnly
            case "25P02": .failedTransaction
            // No such prepared statement, or another of that name.
            case "26000", "42P05": .staleStatement
            case "23505", "23P01": .uniqueViolation
            case "23514": .checkViolation
            case "23502": .notNullViolation
            case "23503": .foreignKeyViolation
            // Tables, columns, functions, types and other objects; schemas; databases.
            case "42P01", "42703", "42883", "42704", "3F000", "3D000": .undefinedObject
            case "42501": .insufficientPrivilege
            case "P0001": .raised
            // A message that we built wrongly. If it is a connection pooler's word for its troubles, it hangs up too.
            case "08P01": .other
            default: Self(sqlStateClass: sqlState.prefix(2))
            }
    }

    /// By the first two characters, for what the table does not name.
    private init(sqlStateClass: Substring) {
        self =
            switch sqlStateClass {
            case "08": .connectionLost
            case "22": .invalidValue
            case "28": .insufficientPrivilege
            case "40": .serializationFailure
            case "42": .syntax
            case "P0", "XX": .other
            // SQL leaves what begins with I to Z to the implementation, and PostgreSQL uses those two alone: the rest
            // is what functions of ours raise.
            case let other where ("I"..."Z").contains(other.first ?? "0"): .raised
            default: .other
            }
    }
}
