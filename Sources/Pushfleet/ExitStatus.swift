import ArgumentParser
import Domain
import Glibc
import Postgres
import QueueStore
import Schema
import Threading

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
        // Said already, when it happened.
        if isOutputLost.withLock({ $0 }) { throw ExitStatus.failed }
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
    case let failure as PostgresError:
        return explain(failure)
    default:
        return ("\(error)", ExitStatus.failed)
    }
}

private func explain(_ failure: PostgresError) -> (message: String, status: ExitCode) {
    switch (failure.code, failure.sqlState) {
    // invalid_catalog_name: there is a server, and no such database. protocol_violation: a pooler's word for both.
    case (.connectionFailed, _), (_, "3D000"), (_, "08P01"):
        return (
            "\(failure); check --database, PUSHFLEET_DATABASE_URL or the PG* variables", ExitStatus.databaseUnreachable
        )
    case (_, let state?) where state.hasPrefix("28"):
        return (
            "\(failure); check the user and password of --database, PUSHFLEET_DATABASE_URL or the PG* variables, and the "
                + "server's pg_hba.conf",
            ExitStatus.databaseUnreachable
        )
    // Ours, not the server's: of the connection string.
    case (.invalidValue, nil):
        return ("\(failure); correct --database or PUSHFLEET_DATABASE_URL", ExitStatus.badInput)
    // Said by our own functions, with the field and the remedy.
    case (_, let state?) where state.hasPrefix("PF4"):
        return (failure.message, ExitStatus.badInput)
    case (.undefinedObject, _):
        return (
            "the database has no Pushfleet schema, or an older one; run: pushfleet migrate up",
            ExitStatus.schemaMismatch
        )
    case (.insufficientPrivilege, _):
        return (
            "\(failure); log in as the schema's owner. Enough is pushfleet_reporter for explain and report show, "
                + "pushfleet_intake for intake, and for run the role that each of its roles is named for",
            ExitStatus.failed
        )
    default:
        return ("\(failure)", ExitStatus.failed)
    }
}

/// All problems of a file, aligned, each with its remedy.
func describe(_ problems: [Problem]) -> String {
    let lines = problems.map { "  \($0.pointer.isEmpty ? "/" : $0.pointer): \($0.message) [\($0.code)]; \($0.remedy)" }
    let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
    return "\(count):\n" + lines.joined(separator: "\n")
}

func writeError(_ text: String) { _ = write(text, to: STDERR_FILENO) }

/// What cannot be written ends the command with status 1, unless a reader closed its pipe: it has what it wanted.
func writeOutput(_ text: String) {
    guard !isOutputLost.withLock({ $0 }) else { return }
    let fault = write(text, to: STDOUT_FILENO)
    guard fault != 0, fault != EPIPE else { return }
    isOutputLost.withLock { $0 = true }
    writeError("pushfleet: standard output cannot be written (errno \(fault)); it is not whole, check the disk\n")
}

private let isOutputLost = Locked(false)

/// Whole texts, unbuffered, so that what two processes write to one terminal stays in order.
/// - Returns: why not, as errno says it; 0 = it is written.
private func write(_ text: String, to descriptor: Int32) -> Int32 {
    let bytes = Array(text.utf8)
    var sent = 0
    while sent < bytes.count {
        let count = unsafe bytes[sent...].withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return count < 0 ? errno : EIO }
        sent += count
    }
    return 0
}

/// A peer that closes its connection is an error of that call, not the end of the process.
func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
