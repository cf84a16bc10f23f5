import CLibPQ
import Glibc

extension PostgresConnection {
    /// Sends rows with `COPY … FROM STDIN`. Nothing of it stays if the source throws or a row is refused.
    /// - Parameters:
    ///   - statement: without parameters, which COPY does not take.
    ///   - chunks: the data in the statement's format, cut anywhere; some 64 KiB each are best. The next one is asked for
    ///     when the last one is with the kernel, so that no more than one is held.
    ///   - deadline: for all of it.
    /// - Returns: the rows copied.
    /// - Throws: `PostgresError`, or what the source threw.
    package nonisolated func copyIn<Chunks: AsyncSequence>(
        _ statement: PostgresQuery, chunks: Chunks, deadline: Duration = .seconds(60)
    ) async throws -> Int where Chunks.Element == [UInt8] {
        let deadline = ContinuousClock.now + deadline
        try await beginCopy(statement, into: PGRES_COPY_IN, until: deadline)
        do {
            for try await chunk in chunks { try await put(chunk, until: deadline) }
        } catch {
            await abortCopyIn(until: deadline)
            throw error
        }
        return try await endCopyIn(until: deadline)
    }

    /// As above, with a source that does not wait.
    package nonisolated func copyIn(
        _ statement: PostgresQuery, chunks: some Sequence<[UInt8]>, deadline: Duration = .seconds(60)
    ) async throws -> Int {
        let deadline = ContinuousClock.now + deadline
        try await beginCopy(statement, into: PGRES_COPY_IN, until: deadline)
        do {
            for chunk in chunks { try await put(chunk, until: deadline) }
        } catch {
            await abortCopyIn(until: deadline)
            throw error
        }
        return try await endCopyIn(until: deadline)
    }

    /// Receives rows with `COPY … TO STDOUT`.
    /// - Parameters:
    ///   - statement: without parameters.
    ///   - deadline: for all of it.
    ///   - body: called with whole rows, some 64 KiB at a time. When it throws the connection is closed.
    /// - Returns: the rows copied.
    package nonisolated func copyOut(
        _ statement: PostgresQuery, deadline: Duration = .seconds(60), _ body: ([UInt8]) async throws -> Void
    ) async throws -> Int {
        let deadline = ContinuousClock.now + deadline
        try await beginCopy(statement, into: PGRES_COPY_OUT, until: deadline)
        do {
            while let chunk = try await nextChunk(until: deadline) { try await body(chunk) }
        } catch {
            await abandon()
            throw error
        }
        return try await endCopyOut(until: deadline)
    }

    private func beginCopy(
        _ statement: PostgresQuery, into status: ExecStatusType, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        precondition(statement.parameters.isEmpty, "COPY takes no parameters.")
        try perform { session throws(PostgresError) in
            try session.beginCopy(statement, into: status, until: deadline)
        }
    }

    private func put(_ chunk: [UInt8], until deadline: ContinuousClock.Instant) throws(PostgresError) {
        try perform(amid: true) { session throws(PostgresError) in try session.put(chunk, until: deadline) }
    }

    private func endCopyIn(until deadline: ContinuousClock.Instant) throws(PostgresError) -> Int {
        try perform(amid: true) { session throws(PostgresError) in try session.endCopyIn(until: deadline) }
    }

    private func abortCopyIn(until deadline: ContinuousClock.Instant) {
        do {
            try perform(amid: true) { session throws(PostgresError) in try session.abortCopyIn(until: deadline) }
        } catch {
            // What the caller learns is why the source failed. The server keeps nothing of a COPY that did not end.
            abandon()
        }
    }

    private func nextChunk(until deadline: ContinuousClock.Instant) throws(PostgresError) -> [UInt8]? {
        try perform(amid: true) { session throws(PostgresError) in try session.nextChunk(until: deadline) }
    }

    private func endCopyOut(until deadline: ContinuousClock.Instant) throws(PostgresError) -> Int {
        try perform(amid: true) { session throws(PostgresError) in
            try session.collect(1, sending: .nothingLasting, until: deadline).affected
        }
    }
}
