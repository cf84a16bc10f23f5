import Crypto
import Domain
import Foundation
import HTTP2
import Testing
import Threading

@testable import Transports

/// What the table says of requests that get no answer, over real connections.
@Suite(.timeLimit(.minutes(1))) struct APNsFaultTableTests {
    private func running(
        _ transport: APNsTransport, _ body: @escaping () async throws -> [SendResult]
    ) async throws -> [SendResult] {
        let results = try await withThrowingTaskGroup(returning: [SendResult].self) { group in
            group.addTask { try await transport.run() }
            defer { group.cancelAll() }
            try await transport.ready()
            return try await body()
        }
        await transport.close(by: .now + .seconds(5))
        return results
    }

    @Test func `the tables of faults are there`() {
        #expect(APNsErrorTable.goAways.count == 5)
        #expect(APNsErrorTable.goAways.allSatisfy { $0.streams.count == 4 })
        #expect(Set(APNsErrorTable.unanswered.map(\.id)) == Set(Self.ids))
    }

    /// The reason that Apple puts into it is the connection's, even where it is a device's by its name.
    @Test(arguments: APNsErrorTable.goAways)
    func `a GOAWAY sends again at once what is above its last stream, and condemns no address`(
        row: APNsGoAwayRow
    ) async throws {
        let seen = Locked<Set<String>>([])
        let unprocessed = try #require(row.streams.map(\.id).first { $0 > row.lastStreamId })
        let fake = try FakeAPNs(goAwayDebugData: row.debugData) { _, request in
            let stream = Int16(request.path.suffix(3).filter(\.isNumber)) ?? 0
            if stream <= row.lastStreamId { return .stall }
            let isFirst = seen.withLock { $0.insert(request.path).inserted }
            return isFirst && stream == unprocessed ? .goAwayUnprocessed : .taken(request)
        }
        let transport = try fake.transport(requestDeadline: .seconds(1))
        let results = try await running(transport) {
            try await transport.results(of: row.streams.map { .apns($0.id) })
        }
        #expect(results.count == row.streams.count)
        for (stream, result) in zip(row.streams, results) {
            #expect(result.ticket.ordinal == stream.id)
            switch result.fate {
            case .mayHaveLeft: #expect(stream.mayHaveBeenSent && stream.wait == "backoff", "\(stream.id)")
            case .answered(.delivered): #expect(!stream.mayHaveBeenSent && stream.wait == "now", "\(stream.id)")
            case .notSent, .tryAgain, .answered: Issue.record("\(stream.id): \(result.fate)")
            }
        }
        #expect(Set(fake.received.map(\.connection)).count == 2)
    }

    private static let ids = [
        "refused-stream", "goaway-above-last-id", "connect-failed", "tls-failed", "timeout", "reset-after-send",
    ]

    private func server(of row: APNsErrorRow) throws -> FakeAPNs {
        try FakeAPNs { count, request in
            switch row.id {
            case "refused-stream": count == 1 ? .refuse : .taken(request)
            case "goaway-above-last-id": count == 1 ? .goAwayUnprocessed : .taken(request)
            case "timeout": .stall
            case "reset-after-send": .reset(code: 2)
            default: .taken(request)
            }
        }
    }

    @Test(arguments: APNsErrorTable.unanswered)
    func `a request without an answer is sent again, waits, or may have been sent, as the table says`(
        row: APNsErrorRow
    ) async throws {
        let fake = try server(of: row)
        let stranger = try TemporaryFile(Array(try SelfSignedCertificate.make().authorityPEM.utf8))
        let transport = try fake.transport(
            requestDeadline: row.id == "timeout" ? .milliseconds(300) : .seconds(10),
            trustFile: row.id == "tls-failed" ? stranger.path : nil)
        if row.id == "connect-failed" { fake.stop() }
        let isSent = row.mayHaveBeenSent || row.wait == "now"
        let results = try await running(transport) {
            try await transport.results(of: [.apns(1)], beginBefore: isSent ? .seconds(20) : .milliseconds(500))
        }
        let result = try #require(results.first)
        #expect(row.class == "retry" && !row.retire)
        switch result.fate {
        case .mayHaveLeft: #expect(row.mayHaveBeenSent)
        case .answered(.delivered):
            #expect(row.wait == "now" && !row.mayHaveBeenSent)
            #expect(fake.received.count == 2)
        case .notSent: #expect(row.wait == "backoff" && !row.mayHaveBeenSent && fake.received.isEmpty)
        case .tryAgain, .answered: Issue.record("\(result.fate)")
        }
    }
}
