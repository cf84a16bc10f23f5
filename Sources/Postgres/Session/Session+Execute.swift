import CLibPQ
import Glibc

extension Session {
    /// Sends a statement and waits for its whole answer.
    ///
    /// When it throws, `isIdle` says whether the connection may be used again.
    func execute(
        _ query: PostgresQuery, preparing: Bool, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> PostgresRows {
        guard deadline > .now else { throw PostgresError(.deadlineExceeded, "the deadline passed before sending") }
        guard preparing else { return try executeUnnamed(query, until: deadline) }
        do {
            return try executePrepared(query, until: deadline)
        } catch  where error.code == .staleStatement {
            statements.removeAll()
            // Planning failed, so that nothing ran. In a transaction that has failed now, nothing else would run either.
            guard isIdle, !isInTransaction else { throw error }
            return try executeUnnamed(query, until: deadline)
        }
    }

    private func executePrepared(
        _ query: PostgresQuery, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> PostgresRows {
        let key = PreparedStatements.key(query)
        let entry: PreparedStatements.Entry
        if let known = statements.find(query, key: key) {
            entry = known
        } else {
            entry = try prepare(query, key: key, until: deadline)
        }
        let isSent = buffers.withPointers(to: query.parameters) { values, lengths, formats in
            PQsendQueryPrepared(handle, entry.name, Int32(query.parameters.count), values, lengths, formats, 1)
        }
        return try collect(isSent, sending: .effects, until: deadline)
    }

    private func prepare(
        _ query: PostgresQuery, key: UInt64, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> PreparedStatements.Entry {
        if statements.isFull {
            let isSent = PQsendQuery(handle, "DEALLOCATE ALL")
            _ = try collect(isSent, sending: .nothingLasting, until: deadline)
            statements.removeAll()
        }
        let entry = statements.makeEntry(query, key: key)
        let isSent = PQsendPrepare(handle, entry.name, query.sql, Int32(entry.types.count), entry.types)
        _ = try collect(isSent, sending: .nothingLasting, until: deadline)
        statements.add(entry, key: key)
        return entry
    }

    private func executeUnnamed(
        _ query: PostgresQuery, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> PostgresRows {
        let isSent = send(query)
        return try collect(isSent, sending: .effects, until: deadline)
    }

    /// Hands the statement to libpq, unnamed. 0 when it did not take it.
    func send(_ query: PostgresQuery) -> Int32 {
        let types = query.parameters.map(\.oid)
        return buffers.withPointers(to: query.parameters) { values, lengths, formats in
            PQsendQueryParams(handle, query.sql, Int32(types.count), types, values, lengths, formats, 1)
        }
    }
}

extension Session {
    /// What it would mean for a message to have arrived without an answer.
    enum Sending {
        case effects
        case nothingLasting
    }

    /// Waits for all results of what was sent. A statement that ran may still fail at its commit: the last word counts.
    func collect(
        _ isSent: Int32, sending: Sending, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> PostgresRows {
        guard isSent == 1 else { throw notSent() }
        var rows: PostgresRows?
        var failure: PostgresError?
        while true {
            guard waitForResult(until: deadline) else {
                throw PostgresError(
                    .deadlineExceeded, "the statement had no answer in time", mayHaveTakenEffect: sending == .effects)
            }
            guard let result = PQgetResult(handle) else { break }
            let answer = PostgresRows(adopting: result)
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: rows = answer
            case PGRES_FATAL_ERROR:
                failure = failure ?? PostgresError(reading: result)
                // Its hanging up may take a while to arrive, or never does.
                if isLastWord(result) { throw lost(failure, sending) }
            default: throw PostgresError(.malformedResult, "the statement is no query: COPY has calls of its own")
            }
        }
        guard PQstatus(handle) == CONNECTION_OK else { throw lost(failure, sending) }
        if let failure { throw failure }
        guard let rows else { throw PostgresError(.malformedResult, "the server gave no result") }
        return rows
    }

    /// Sends what is left to send and reads what comes, until libpq has a result to give.
    /// - Returns: false when the deadline passed first. A connection that broke has its error as a result.
    func waitForResult(until deadline: ContinuousClock.Instant) -> Bool {
        while true {
            let left = PQflush(handle)
            guard left >= 0, PQisBusy(handle) == 1 else { return true }
            guard wait(for: left == 1 ? POLLIN | POLLOUT : POLLIN, until: deadline) else { return false }
            guard PQconsumeInput(handle) == 1 else { return true }
        }
    }

    func notSent() -> PostgresError {
        PQstatus(handle) == CONNECTION_OK
            ? PostgresError(.other, "the statement was not sent: \(lastError)")
            : PostgresError(.connectionLost, "the connection to PostgreSQL was lost: \(lastError)")
    }

    func lost(_ failure: PostgresError?, _ sending: Sending) -> PostgresError {
        PostgresError(
            .connectionLost, "the connection to PostgreSQL was lost: \(failure?.message ?? lastError)",
            sqlState: failure?.sqlState, mayHaveTakenEffect: sending == .effects)
    }
}
