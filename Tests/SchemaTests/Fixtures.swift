@testable import Schema

extension Migration {
    /// A migration with a header, for tests.
    static func fixture(_ title: String, lowestBinary: Int = 1, up: String, down: String) throws -> Migration {
        try Migration(title: title, up: header(lowestBinary) + up, down: down)
    }

    static func header(_ lowestBinary: Int = 1) -> String {
        """
        -- why: a test
        -- locks: nothing
        -- safe with workers running: yes
        -- lowest binary: \(lowestBinary)

        """
    }

    /// Three that build on each other. `log` keeps count of how often each ran.
    static func three() throws -> [Migration] {
        [
            try fixture(
                "0001_first",
                up: """
                    CREATE SCHEMA pushfleet;
                    CREATE TABLE log (number int);
                    INSERT INTO log VALUES (1);
                    """, down: "DROP SCHEMA pushfleet CASCADE"),
            try fixture(
                "0002_second",
                up: """
                    CREATE TABLE item (id int PRIMARY KEY, note text DEFAULT 'a;b');
                    CREATE FUNCTION twice(n int) RETURNS int LANGUAGE plpgsql AS $body$
                    BEGIN
                        RETURN n * 2;  -- ;
                    END $body$;
                    INSERT INTO log VALUES (2)
                    """, down: "DROP FUNCTION twice; DROP TABLE item;"),
            try fixture(
                "0003_third",
                up: "ALTER TABLE item ADD COLUMN size int; INSERT INTO log VALUES (twice(1) + 1);",
                down: "ALTER TABLE item DROP COLUMN size;"),
        ]
    }
}
