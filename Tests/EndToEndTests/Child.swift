import Foundation
import Testing
import Threading

/// A process of ours, as a user starts it. What it prints goes into files.
final class Child: Sendable {
    struct Exit: Equatable {
        var status: Int32
        /// A signal ended it, and `status` is its number.
        var bySignal: Bool
        static let killed = Exit(status: SIGKILL, bySignal: true)
        static let terminated = Exit(status: SIGTERM, bySignal: true)
        static let done = Exit(status: 0, bySignal: false)
    }

    private let process = Process()
    private let ended = Wakeup()
    private let outputFile: URL
    private let errorFile: URL

    /// - Parameters:
    ///   - name: of the files in `folder` that keep its output.
    ///   - throughEnv: env(1) executes it. libfaketime moves the environment of the first program that it is loaded into,
    ///     and there Swift would find no arguments.
    init(
        _ program: String, _ arguments: [String], environment: [String: String], folder: URL, name: String,
        throughEnv: Bool = false
    ) throws {
        outputFile = folder.appending(path: name + ".out")
        errorFile = folder.appending(path: name + ".err")
        let executable = Self.programs.appending(path: program)
        process.executableURL = throughEnv ? URL(filePath: "/usr/bin/env") : executable
        process.arguments = throughEnv ? [executable.path] + arguments : arguments
        var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("P") || $0.key == "PATH" }
        // A backtrace of a killed process takes longer than the tests.
        variables["SWIFT_BACKTRACE"] = "enable=no"
        process.environment = variables.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try Self.create(outputFile)
        process.standardError = try Self.create(errorFile)
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
    }

    private static func create(_ file: URL) throws -> FileHandle {
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        return try FileHandle(forWritingTo: file)
    }

    /// Where the build put the executables: beside the tests.
    static let programs: URL = {
        let bundle = CommandLine.arguments.first { $0.contains(".xctest") }
        if let bundle, let end = bundle.range(of: ".xctest") {
            return URL(filePath: String(bundle[..<end.upperBound])).deletingLastPathComponent()
        }
        return URL(filePath: #filePath).appending(path: "../../../.build/debug").standardized
    }()

    var isRunning: Bool { process.isRunning }

    var output: String { text(outputFile) }
    var errors: String { text(errorFile) }

    private func text(_ file: URL) -> String {
        // Of a file that is gone nothing can be said.
        (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    }

    func signal(_ number: Int32) { if process.isRunning { kill(process.processIdentifier, number) } }

    /// Waits for its end, however it comes.
    func exit() async -> Exit {
        while process.isRunning, !Task.isCancelled { await ended.wait(until: .now + .milliseconds(50)) }
        guard !process.isRunning else { return Exit(status: -1, bySignal: false) }
        return Exit(status: process.terminationStatus, bySignal: process.terminationReason == .uncaughtSignal)
    }
}

/// Expects that a process ends so, and says what it wrote if it does not.
func expectExit(_ child: Child, _ expected: Child.Exit, _ what: String = "it") async {
    let exit = await child.exit()
    #expect(exit == expected, "\(what) ended with \(exit): \(child.errors.suffix(2_000))")
}

/// Looks every 20 ms whether something has come about in another process.
/// - Throws: `TimedOut` after `limit`.
func until(
    _ what: String, limit: Duration = .seconds(40), _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    let wakeup = Wakeup()
    while try await !condition() {
        guard ContinuousClock.now < deadline, !Task.isCancelled else { throw TimedOut(what: what) }
        await wakeup.wait(until: .now + .milliseconds(20))
    }
}

struct TimedOut: Error, CustomStringConvertible {
    let what: String
    var description: String { "it did not happen in time: \(what)" }
}
