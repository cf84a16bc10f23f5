import Testing

@testable import Postgres

@Suite(.timeLimit(.minutes(1))) struct ErrorTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let sqlState: String
        let code: PostgresError.Code
        let isTransient: Bool
        var testDescription: String { "\(sqlState) \(code)" }

        init(_ sqlState: String, _ code: PostgresError.Code, transient: Bool = false) {
            self.sqlState = sqlState
            self.code = code
            isTransient = transient
        }
    }

    /// PostgreSQL manual, appendix A.
    static let states: [Case] = [
        Case("40001", .serializationFailure, transient: true), Case("40P01", .deadlock, transient: true),
        Case("57P01", .shuttingDown, transient: true), Case("57P02", .shuttingDown, transient: true),
        Case("57P03", .shuttingDown, transient: true), Case("57P05", .shuttingDown, transient: true),
        Case("53300", .tooManyConnections, transient: true), Case("25006", .readOnly, transient: true),
        Case("08006", .connectionLost, transient: true), Case("08003", .connectionLost, transient: true),
        Case("26000", .staleStatement, transient: true), Case("42P05", .staleStatement, transient: true),
        Case("55P03", .lockNotAvailable), Case("57014", .queryCanceled), Case("25P02", .failedTransaction),
        Case("23505", .uniqueViolation), Case("23P01", .uniqueViolation), Case("23514", .checkViolation),
        Case("23502", .notNullViolation), Case("23503", .foreignKeyViolation),
        Case("42P01", .undefinedObject), Case("42703", .undefinedObject), Case("42883", .undefinedObject),
        Case("3F000", .undefinedObject), Case("3D000", .undefinedObject), Case("42704", .undefinedObject),
        Case("42501", .insufficientPrivilege), Case("28P01", .insufficientPrivilege),
        Case("28000", .insufficientPrivilege),
        Case("22P02", .invalidValue), Case("22003", .invalidValue), Case("22021", .invalidValue),
        Case("42601", .syntax), Case("42804", .syntax),
        Case("P0001", .raised), Case("PF001", .raised), Case("ZZ999", .raised),
        Case("P0002", .other), Case("XX000", .other), Case("53100", .other), Case("0A000", .other),
        Case("08P01", .other), Case("", .other),
    ]

    @Test(arguments: states) func `an SQLSTATE has one meaning`(state: Case) {
        let code = PostgresError.Code(sqlState: state.sqlState)
        #expect(code == state.code)
        #expect(PostgresError(code, "").isTransient == state.isTransient)
    }

    struct Statement: Sendable, CustomTestStringConvertible {
        let query: PostgresQuery
        let code: PostgresError.Code
        let message: String
        var constraint: String?
        var detail: String?
        var testDescription: String { "\(code)" }
    }

    static let statements = [
        Statement(
            query: "INSERT INTO t VALUES (1, 'secret')", code: .uniqueViolation,
            message: #"duplicate key value violates unique constraint "t_pkey""#, constraint: "t_pkey"),
        Statement(
            query: "INSERT INTO t VALUES (-1, 'secret')", code: .checkViolation,
            message: #"new row for relation "t" violates check constraint "t_id_check""#, constraint: "t_id_check"),
        Statement(
            query: "INSERT INTO t VALUES (2, NULL)", code: .notNullViolation,
            message: #"null value in column "name" of relation "t" violates not-null constraint"#),
        Statement(
            query: "SELECT * FROM missing", code: .undefinedObject, message: #"relation "missing" does not exist"#),
        Statement(query: "SELEC", code: .syntax, message: #"syntax error at or near "SELEC""#),
        Statement(
            query: "SELECT \("secret")::text::int", code: .invalidValue,
            message: #"invalid input syntax for type integer: "…""#),
        Statement(
            query: "DO $$ BEGIN RAISE 'full' USING DETAIL = 'by 3'; END $$", code: .raised, message: "full",
            detail: "by 3"),
        Statement(
            query: "DO $$ BEGIN RAISE 'own' USING ERRCODE = 'PF001'; END $$", code: .raised, message: "own"),
        Statement(
            query: "COPY t FROM STDIN", code: .malformedResult,
            message: "the statement is no query: COPY has calls of its own"),
    ]

    @Test(arguments: statements)
    func `an error has the server's message and no value of the statement`(statement: Statement) async throws {
        try await TestServer.withConnection { connection in
            _ = try await connection.query(
                "CREATE TEMPORARY TABLE t (id bigint PRIMARY KEY CHECK (id > 0), name text NOT NULL)")
            _ = try await connection.query("INSERT INTO t VALUES (1, 'secret')")
            let error = try #require(
                await errorOf { try await connection.query(statement.query) })
            #expect(error.code == statement.code && error.message == statement.message)
            #expect(error.constraint == statement.constraint && error.detail == statement.detail)
            #expect(!error.mayHaveTakenEffect && !"\(error)".contains("secret") && !"\(error)".contains("\n"))
        }
    }

    @Test func `a failure at the commit of a statement is its error`() async throws {
        try await TestServer.withConnection { connection in
            _ = try await connection.query("CREATE TEMPORARY TABLE t (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
            let error = await errorOf {
                try await connection.query("INSERT INTO t VALUES (1), (1)")
            }
            #expect(error?.code == .uniqueViolation)
        }
    }

    @Test func `an empty statement is answered`() async throws {
        try await TestServer.withConnection { connection in
            let rows = try await connection.query("")
            #expect(rows.isEmpty)
        }
    }
}
