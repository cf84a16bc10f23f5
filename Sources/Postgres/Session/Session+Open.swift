import CLibPQ
import Glibc

extension Session {
    /// How long one host may take that has no `connect_timeout`: a silent one must not use up the time of the others, and
    /// an attempt that a dead network swallowed must be over soon after the network is back: claims resume within 5 s.
    private static let defaultTimeout = Duration.seconds(3)

    /// Connects to the first host of the configuration that answers.
    /// - Parameter firstHost: index of the host to begin with; set to the one that answered. Name look-up is libpq's own
    ///   and may exceed the deadline.
    static func open(
        _ configuration: PostgresConfiguration, interruption: Interruption, firstHost: inout Int,
        until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> Session {
        let parameters = try ConnectionParameters.read(configuration.connectionString).get()
        let hosts = parameters.hosts
        var failure = PostgresError(.connectionFailed, "cannot connect to PostgreSQL: no time left")
        for attempt in 0..<hosts.count where deadline > .now {
            let index = (firstHost + attempt) % hosts.count
            let share = ContinuousClock.now.duration(to: deadline) / (hosts.count - attempt)
            let limit = ContinuousClock.now + min(share, parameters.connectTimeout ?? defaultTimeout)
            do {
                let session = try start(configuration, parameters, host: index, interruption)
                try session.finishConnecting(until: limit)
                firstHost = index
                return session
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private static func start(
        _ configuration: PostgresConfiguration, _ parameters: ConnectionParameters, host index: Int,
        _ interruption: Interruption
    ) throws(PostgresError) -> Session {
        // Later ones win: the first are defaults, those after the connection string are ours to say.
        var options: [(String, String)] = [
            ("keepalives", "1"), ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "10000"),
        ]
        if !configuration.connectionString.isEmpty { options.append(("dbname", configuration.connectionString)) }
        options += [("fallback_application_name", configuration.applicationName), ("client_encoding", "UTF8")]
        let hosts = parameters.hosts
        if hosts.count > 1 {
            // One of the list at a time: libpq's own connect_timeout works in its blocking calls alone.
            options += [
                ("host", hosts[index].host ?? ""), ("hostaddr", hosts[index].address ?? ""),
                ("port", hosts[index].port ?? ""),
            ]
        }
        let handle = withCStrings(options.map(\.0)) { keywords in
            withCStrings(options.map(\.1)) { values in PQconnectStartParams(keywords, values, 1) }
        }
        guard let handle else { throw PostgresError(.connectionFailed, "cannot connect to PostgreSQL: out of memory") }
        let session = Session(adopting: handle, interruption: interruption)
        // Gives the SQLSTATE of a refusal, which has no other way out of libpq 15.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        return session
    }

    private func finishConnecting(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        guard PQstatus(handle) != CONNECTION_BAD else { throw connectFailure() }
        var status = PGRES_POLLING_WRITING
        while status != PGRES_POLLING_OK {
            guard status != PGRES_POLLING_FAILED else { throw connectFailure() }
            guard wait(for: status == PGRES_POLLING_READING ? POLLIN : POLLOUT, until: deadline) else {
                throw connectFailure(cause: "no answer in time")
            }
            status = PQconnectPoll(handle)
        }
        guard PQsetnonblocking(handle, 1) == 0 else { throw connectFailure() }
        PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
    }

    /// One line: where, and why not. libpq's own text has several, and names each address in turn; the last one counts.
    private func connectFailure(cause: String? = nil) -> PostgresError {
        let lines = String(cString: PQerrorMessage(handle)).split(whereSeparator: \.isNewline)
        let last = lines.last { $0.contains("failed: ") } ?? lines.first ?? "unknown cause"
        var reason = cause ?? String(last.range(ofText: " failed: ").map { last[$0...] } ?? last)
        var state: String?
        // "FATAL:  28P01: password authentication failed", whatever the language of the first word.
        let parts = reason.split(separator: ":", maxSplits: 2).map { $0.drop(while: \.isWhitespace) }
        if parts.count == 3, parts[1].utf8.count == 5,
            parts[1].allSatisfy({ $0.isASCII && ($0.isNumber || $0.isUppercase) })
        {
            state = String(parts[1])
            reason = String(parts[2])
        }
        return PostgresError(
            state.map { .init(sqlState: $0) } ?? .connectionFailed,
            "cannot connect to PostgreSQL at \(place): \(reason)",
            sqlState: state)
    }

    private var place: String {
        func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
        return "\(text(PQhost(handle))):\(text(PQport(handle))), database \(text(PQdb(handle)))"
    }
}

extension Substring {
    /// The index after the first occurrence of the text.
    fileprivate func range(ofText text: String) -> Index? {
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(text) { return rest.index(rest.startIndex, offsetBy: text.count) }
            rest = rest.dropFirst()
        }
        return nil
    }
}

/// Lends the strings as a C array that ends with NULL.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies.map { UnsafePointer($0) } + [nil])
}
