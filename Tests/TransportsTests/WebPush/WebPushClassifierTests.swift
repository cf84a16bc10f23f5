import Domain
import Foundation
import Testing

@testable import Transports

/// A row of `Fixtures/webpush-errors.json`.
struct WebPushErrorRow: Decodable, CustomTestStringConvertible {
    let id: String
    let service: String
    let status: Int
    let expected: String
    let retire: Bool
    let wait: String?
    let headers: [String: String]
    let body: String
    let bodyRepeat: Int?
    let registeredAtMs: Int64?

    var testDescription: String { id }

    enum CodingKeys: String, CodingKey {
        case id, service, status, retire, wait, headers, body, bodyRepeat, registeredAtMs
        case expected = "class"
    }

    init(from decoder: any Decoder) throws {
        let row = try decoder.container(keyedBy: CodingKeys.self)
        id = try row.decode(String.self, forKey: .id)
        service = try row.decode(String.self, forKey: .service)
        status = try row.decode(Int.self, forKey: .status)
        expected = try row.decode(String.self, forKey: .expected)
        retire = try row.decode(Bool.self, forKey: .retire)
        let seconds = try? row.decode(Int.self, forKey: .wait)
        wait = try seconds.map { String($0) } ?? row.decodeIfPresent(String.self, forKey: .wait)
        headers = try row.decode([String: String].self, forKey: .headers)
        body = try row.decode(String.self, forKey: .body)
        bodyRepeat = try row.decodeIfPresent(Int.self, forKey: .bodyRepeat)
        registeredAtMs = try row.decodeIfPresent(Int64.self, forKey: .registeredAtMs)
    }

    static let all: [WebPushErrorRow] = {
        struct Table: Decodable { let rows: [WebPushErrorRow] }
        do { return try Fixtures.decode("webpush-errors.json", as: Table.self).rows } catch {
            preconditionFailure("the table of answers cannot be read: \(error)")
        }
    }()

    /// Rows on which the sources disagreed, as they were settled: an address that cannot pause a credential, a message
    /// that the service says it dropped.
    static let settled = ["apple-404-BadPath": "refused", "wns-200-dropped": "refused"]
}

@Suite struct WebPushClassifierTests {
    private func classify(_ row: WebPushErrorRow) -> Answer {
        WebPushClassifier.classify(
            WebPushClassifier.Response(
                status: row.status, retryAfter: row.headers["retry-after"], date: row.headers["date"],
                location: row.headers["location"], wnsStatus: row.headers["x-wns-status"],
                wnsError: row.headers["x-wns-error-description"], body: Array(row.body.utf8)),
            now: 0)
    }

    @Test func `the table of answers is there`() {
        #expect(WebPushErrorRow.all.count >= 90)
        #expect(Set(WebPushErrorRow.all.map(\.service)) == ["any", "fcm", "mozilla", "apple", "wns"])
    }

    @Test(arguments: WebPushErrorRow.all) func `every answer gets its class`(row: WebPushErrorRow) {
        #expect(classify(row).className == WebPushErrorRow.settled[row.id] ?? row.expected)
    }

    /// Whether a subscription registered again meanwhile is the version's to tell, which the answer does not know.
    @Test(arguments: WebPushErrorRow.all.filter { $0.registeredAtMs == nil })
    func `a subscription is given up for no other answer`(row: WebPushErrorRow) {
        let retires = if case .unregistered = classify(row) { true } else { false }
        #expect(retires == row.retire)
    }

    @Test(arguments: WebPushErrorRow.all) func `every answer waits as long as it must`(row: WebPushErrorRow) throws {
        let wait = classify(row).wait
        switch row.wait {
        case nil, "backoff": #expect(wait == nil)
        case "now": #expect(wait == .zero)
        case "retry_after":
            // The row with a date is 90 s later; the longest is the longest life of a message.
            let seconds = row.headers["retry-after"].flatMap { Int($0) } ?? 90
            #expect(wait == .seconds(min(seconds, 2_419_200)))
        case let seconds?: #expect(wait == .seconds(try #require(Int(seconds))))
        }
    }

    @Test(arguments: WebPushErrorRow.all.filter { $0.body.contains("{") })
    func `a cut body never gives a subscription up`(row: WebPushErrorRow) {
        guard row.status != 404, row.status != 410 else { return }
        for length in 0..<row.body.utf8.count {
            let cut = WebPushClassifier.Response(status: row.status, body: Array(row.body.utf8.prefix(length)))
            if case .unregistered = WebPushClassifier.classify(cut, now: 0) { Issue.record("cut at \(length)") }
        }
    }

    @Test func `an accepted message is known by the end of its address`() {
        func answer(_ location: String?) -> Answer {
            WebPushClassifier.classify(.init(status: 201, location: location), now: 0)
        }
        #expect(answer("https://fcm.googleapis.com/0:177%ab") == .delivered(messageID: "0:177%ab"))
        #expect(answer(nil) == .delivered(messageID: nil))
        #expect(answer("/m/" + String(repeating: "x", count: 65)) == .delivered(messageID: nil))
    }
}
