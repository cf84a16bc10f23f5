import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct LogTests {
    private struct Line: Decodable { let time, level, label, message: String }

    private static func run(_ options: [String]) async throws -> String {
        var text = ""
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 1) { site in
                let child = try site.start(roles: "worker,scheduler,janitor", ["--http-port", "0"] + options)
                try await until("it listens") { child.errors.contains("listening") }
                child.signal(SIGTERM)
                await expectExit(child, .done)
                text = child.errors
            }
        }
        return text
    }

    @Test func `elsewhere than on a terminal each line is a JSON object`() async throws {
        let lines = try await Self.run([]).split(separator: "\n")
        #expect(lines.count >= 2)
        for line in lines {
            let fields = try JSONDecoder().decode(Line.self, from: Data(line.utf8))
            #expect(!fields.message.isEmpty && fields.time.hasSuffix("Z"))
        }
    }

    @Test func `text is written where it is asked for`() async throws {
        let lines = try await Self.run(["--log-format", "text"]).split(separator: "\n")
        #expect(lines.count >= 2)
        #expect(lines.allSatisfy { $0.prefixMatch(of: #/[0-9T:.-]{23}Z (info|notice|warning) /#) != nil }, "\(lines)")
    }

    @Test func `on a terminal lines are text`() throws {
        var (terminal, ours): (Int32, Int32) = (-1, -1)
        try #require(openpty(&terminal, &ours, nil, nil, nil) == 0)
        let process = Process()
        process.executableURL = Child.programs.appending(path: "pushfleet")
        process.arguments = [
            "run", "--roles", "worker", "--http-port", "0", "--database", "postgresql://a@127.0.0.1:1/b",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle(fileDescriptor: ours, closeOnDealloc: true)
        try process.run()
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !text.contains("waiting for the database") {
            let count = read(terminal, &buffer, 4096)
            guard count > 0 else { break }
            text += String(decoding: buffer.prefix(count), as: UTF8.self)
        }
        process.terminate()
        process.waitUntilExit()
        close(terminal)
        #expect(
            text.contains(" warning  pushfleet    waiting for the database ") && !text.contains("{\"time\""), "\(text)")
    }

    @Test func `a level and a format that are none are both named`() async throws {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 1) { site in
                let (child, exit) = try await site.pushfleet(
                    ["run", "--roles", "worker", "--log-level", "loud", "--log-format", "xml"])
                #expect(exit == .init(status: 2, bySignal: false))
                #expect(child.errors.contains("log-level: 'loud'") && child.errors.contains("log-format: 'xml'"))
            }
        }
    }
}
