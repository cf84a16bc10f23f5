import ArgumentParser
import Domain
import Glibc
import Postgres
import QueueStore
import Schema

/// What `pushfleet` ends with; `pushfleet --help` documents it.
enum ExitStatus {
    static let failed = ExitCode(1)
    static let badInput = ExitCode(2)
    static let databaseUnreachable = ExitCode(3)
    static let schemaMismatch = ExitCode(4)
}

/// Ends the command with one message on standard error.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    let status: ExitCode
    init(_ description: String, status: ExitCode = ExitStatus.badInput) {
        self.description = description
        self.status = status
    }
}

/// Runs a command's work and turns whatever it throws into one message and the documented status.
func reportingFailures(_ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let code as ExitCode {
        throw code
    } catch let problem as ValidationError {
        throw problem
    } catch {
        let (message, status) = explain(error)
        writeError("pushfleet: \(message)\n")
        throw status
    }
}

private func explain(_ error: any Error) -> (message: String, status: ExitCode) {
    switch error {
    case let failure as CommandFailure:
        return (failure.description, failure.status)
    case let problems as ContentProblems:
        return (describe(problems.problems), ExitStatus.badInput)
    case let mismatch as SchemaError:
        return ("\(mismatch)", ExitStatus.schemaMismatch)
    case let failure as AdminError:
        return ("\(failure)", ExitStatus.badInput)
    case let failure as PostgresError where failure.code == .connectionFailed:
        return (
            "\(failure); check --database, PUSHFLEET_DATABASE_URL or the PG* variables", ExitStatus.databaseUnreachable
        )
    case let failure as PostgresError where failure.code == .undefinedObject:
        return (
            "the database has no Pushfleet schema, or an older one; run: pushfleet migrate up",
            ExitStatus.schemaMismatch
        )
    default:
        return ("\(error)", ExitStatus.failed)
    }
}

/// All problems of a file, aligned, each with its remedy.
func describe(_ problems: [Problem]) -> String {
    let lines = problems.map { "  \($0.pointer.isEmpty ? "/" : $0.pointer): \($0.message) [\($0.code)]; \($0.remedy)" }
    let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
    return "\(count):\n" + lines.joined(separator: "\n")
}

func writeError(_ text: String) { write(text, to: STDERR_FILENO) }

func writeOutput(_ text: String) { write(text, to: STDOUT_FILENO) }

/// Whole texts, unbuffered, so that what two processes write to one terminal stays in order.
private func write(_ text: String, to descriptor: Int32) {
    let bytes = Array(text.utf8)
    var sent = 0
    while sent < bytes.count {
        let count = unsafe bytes[sent...].withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        sent += count
    }
}

/// A peer that closes its connection is an error of that call, not the end of the process.
func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
