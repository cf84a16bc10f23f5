import Foundation
import TestSupport
import Testing

/// Pages that people follow at night name commands that exist.
@Suite(.timeLimit(.minutes(2))) struct DocumentTests {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardized
    private static let pages = [
        "README.md", "Deploy/operations.md", "Deploy/reports.md", "Deploy/prometheus/alerts.yml",
        "Deploy/grafana/pushfleet.json", "Deploy/systemd/pushfleet@.service",
        "Deploy/systemd/pushfleet-accounting.service",
    ]

    /// One mention of a command, up to where the code or the sentence ends.
    private struct Mention: Hashable {
        let page: String
        let words: [String]
        let options: [String]
    }

    private static func mentions(in page: String) throws -> Set<Mention> {
        let text = try String(contentsOf: repository.appending(path: page), encoding: .utf8)
        var found: Set<Mention> = []
        for match in text.matches(of: /pushfleet ([a-z][a-z-]*)((?: [^ \n`;|"']+)*)/) {
            let rest = match.output.2.split(separator: " ").map { String($0) }
            let words =
                [String(match.output.1)]
                + rest.prefix { $0.allSatisfy { $0.isLowercase || $0 == "-" } && !$0.hasPrefix("-") }
            let options = rest.filter { $0.hasPrefix("--") }.map {
                String($0.prefix { $0 != "=" && $0 != "," && $0 != ":" && $0 != ")" })
            }
            found.insert(Mention(page: page, words: words, options: options))
        }
        return found
    }

    @Test(arguments: pages) func `every command and option that a page names exists`(page: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pushfleet-pages-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func help(_ words: [String]) async throws -> String {
            let child = try Child(
                "pushfleet", words + ["--help"], environment: [:], folder: folder, name: UUID().uuidString)
            await expectExit(child, .done, "\(page): pushfleet \(words.joined(separator: " "))")
            return child.output
        }
        for mention in try Self.mentions(in: page) {
            var words = [mention.words[0]]
            var text = try await help(words)
            while text.contains("\nSUBCOMMANDS:"), mention.words.count > words.count {
                words.append(mention.words[words.count])
                text = try await help(words)
            }
            for option in mention.options {
                #expect(text.contains(option), "\(page): pushfleet \(words.joined(separator: " ")) \(option)")
            }
        }
        try FileManager.default.removeItem(at: folder)
    }

    @Test func `every script and file that the operations page names is there`() throws {
        for page in ["README.md", "Deploy/operations.md", "Deploy/reports.md"] {
            let text = try String(contentsOf: Self.repository.appending(path: page), encoding: .utf8)
            for match in text.matches(of: /(?:Deploy|Scripts|Sources|Migrations|Tests)\/[A-Za-z0-9_.@\/-]+[A-Za-z0-9]/)
            {
                let path = String(match.output)
                #expect(
                    FileManager.default.fileExists(atPath: Self.repository.appending(path: path).path),
                    "\(page): \(path)")
            }
        }
    }
}
