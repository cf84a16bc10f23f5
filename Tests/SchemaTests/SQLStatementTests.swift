import Testing

@testable import Schema

@Suite struct SQLStatementTests {
    @Test(arguments: [
        ("SELECT 1; SELECT 2", ["SELECT 1", " SELECT 2"]),
        (";; SELECT 1;;", [" SELECT 1"]),
        ("-- only a comment; really\n/* and ; another */", []),
        ("SELECT 'a;b', 'it''s;', \"c;d\"; SELECT 2;", ["SELECT 'a;b', 'it''s;', \"c;d\"", " SELECT 2"]),
        (#"SELECT E'\';', '\'; SELECT 2"#, [#"SELECT E'\';', '\'"#, " SELECT 2"]),
        (#"SELECT name'\'; SELECT 2"#, [#"SELECT name'\'"#, " SELECT 2"]),
        ("DO $$ BEGIN; END; $$; SELECT 2", ["DO $$ BEGIN; END; $$", " SELECT 2"]),
        ("DO $a$ $$;$$ ;$b$ $a$; SELECT 2", ["DO $a$ $$;$$ ;$b$ $a$", " SELECT 2"]),
        ("SELECT a$b$; SELECT $1; SELECT '$x$;'", ["SELECT a$b$", " SELECT $1", " SELECT '$x$;'"]),
        ("SELECT 1 /* a /* b ; */ c ; */ + 1; SELECT 2", ["SELECT 1 /* a /* b ; */ c ; */ + 1", " SELECT 2"]),
        ("SELECT 1 -- it's\n, 2; SELECT 3 - 1", ["SELECT 1 -- it's\n, 2", " SELECT 3 - 1"]),
        ("SELECT 'é漢;🚢'; SELECT 2", ["SELECT 'é漢;🚢'", " SELECT 2"]),
        ("SELECT 'never closed; SELECT 2", ["SELECT 'never closed; SELECT 2"]),
    ])
    func `a semicolon ends a statement unless it is quoted or commented`(text: String, expected: [String]) {
        #expect(SQLStatement.split(text).map(\.text) == expected)
    }

    @Test func `a statement knows its line and its first word`() {
        let text = "-- one\n\ncreate TABLE a (\n);\n/* two */ -- three\n  Commit"
        let statements = SQLStatement.split(text)
        #expect(statements.map(\.line) == [3, 6])
        #expect(statements.map(\.firstWord) == ["CREATE", "COMMIT"])
    }
}
