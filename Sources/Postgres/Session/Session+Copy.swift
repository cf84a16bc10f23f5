import CLibPQ
import Glibc

extension Session {
    func beginCopy(
        _ statement: PostgresQuery, into status: ExecStatusType, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        guard send(statement) == 1 else { throw notSent() }
        guard waitForResult(until: deadline), let result = PQgetResult(handle) else { throw copyTimedOut() }
        let answer = PostgresRows(adopting: result)
        if PQresultStatus(answer.result) == status { return }
        if PQresultStatus(answer.result) == PGRES_FATAL_ERROR {
            let failure = PostgresError(reading: answer.result)
            // Up to the end of the answer, which leaves the connection usable.
            while waitForResult(until: deadline), let rest = PQgetResult(handle) { PQclear(rest) }
            throw PQstatus(handle) == CONNECTION_OK ? failure : lost(failure, .nothingLasting)
        }
        throw PostgresError(.malformedResult, "the statement is no COPY in that direction")
    }

    func put(_ chunk: [UInt8], until deadline: ContinuousClock.Instant) throws(PostgresError) {
        guard deadline > .now else { throw copyTimedOut() }
        let isTaken = chunk.withUnsafeBytes { bytes in
            PQputCopyData(handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
        }
        // 0, "would block", does not come: libpq keeps what the kernel does not take, and it is flushed each time.
        guard isTaken == 1 else { throw lost(nil, .nothingLasting) }
        try flush(until: deadline)
    }

    func endCopyIn(until deadline: ContinuousClock.Instant) throws(PostgresError) -> Int {
        guard PQputCopyEnd(handle, nil) == 1 else { throw lost(nil, .nothingLasting) }
        return try collect(1, sending: .effects, until: deadline).affected
    }

    /// Has the server throw away what it received. Its answer is the error that was asked for.
    func abortCopyIn(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        guard PQputCopyEnd(handle, "the source of the data failed") == 1 else { throw lost(nil, .nothingLasting) }
        while waitForResult(until: deadline), let result = PQgetResult(handle) { PQclear(result) }
        guard isIdle else { throw copyTimedOut() }
    }

    /// Whole rows, some 64 KiB of them; nil after the last one.
    func nextChunk(until deadline: ContinuousClock.Instant) throws(PostgresError) -> [UInt8]? {
        guard deadline > .now else { throw copyTimedOut() }
        var chunk: [UInt8] = []
        while chunk.count < 65536 {
            var row: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(handle, &row, 1)
            if count > 0, let row {
                chunk.append(contentsOf: UnsafeRawBufferPointer(start: row, count: Int(count)))
                PQfreemem(row)
                continue
            }
            // -1 is the end, and -2 a failure, which is in the result.
            guard count == 0 else { return chunk.isEmpty ? nil : chunk }
            guard wait(for: POLLIN, until: deadline) else { throw copyTimedOut() }
            guard PQconsumeInput(handle) == 1 else { throw lost(nil, .nothingLasting) }
        }
        return chunk
    }

    private func flush(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        while true {
            let left = PQflush(handle)
            guard left != 0 else { return }
            // Reads too: a server that is stuck with sending notices would not read.
            guard left > 0 else { throw lost(nil, .nothingLasting) }
            guard wait(for: POLLIN | POLLOUT, until: deadline) else { throw copyTimedOut() }
            guard PQconsumeInput(handle) == 1 else { throw lost(nil, .nothingLasting) }
        }
    }

    private func copyTimedOut() -> PostgresError {
        PostgresError(.deadlineExceeded, "COPY did not end in time")
    }
}
