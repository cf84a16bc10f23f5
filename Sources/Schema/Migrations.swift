/// The migrations that this binary carries.
package enum Migrations {
    /// All of them, lowest number first.
    package static let all: [Migration] = {
        do {
            return try read(embeddedMigrationFiles)
        } catch {
            // Built from files that the tests refuse.
            preconditionFailure("\(error)")
        }
    }()

    /// - Parameter files: names and texts, in any order.
    /// - Throws: `malformedFile`.
    static func read(_ files: [(name: String, text: String)]) throws(SchemaError) -> [Migration] {
        let texts = Dictionary(files.map { ($0.name, $0.text) }) { first, _ in first }
        var migrations: [Migration] = []
        for name in texts.keys.sorted() {
            guard let title = name.removing(suffix: ".up.sql") else {
                guard let title = name.removing(suffix: ".down.sql"), texts[title + ".up.sql"] != nil else {
                    throw .malformed(name, "no '.up.sql' goes with it")
                }
                continue
            }
            guard let up = texts[name], let down = texts[title + ".down.sql"] else {
                throw .malformed(title, "the way back, '.down.sql', is missing")
            }
            let migration = try Migration(title: title, up: up, down: down)
            guard migrations.last?.number != migration.number else {
                throw .malformed(title, "its number is that of another migration")
            }
            migrations.append(migration)
        }
        return migrations
    }
}

extension String {
    fileprivate func removing(suffix: String) -> String? {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : nil
    }
}
