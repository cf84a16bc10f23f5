import Crypto
import Domain
import Foundation
import Logging
import PlainHTTPServer
import Postgres
import Prometheus
import QueueStore
import TestSupport
import Testing
import Threading

@testable import Pushfleet

@Suite struct IntakeServiceTests {
    private static let key = "pf_" + String(repeating: "k", count: 43)
    private static let logger = Logger(label: "tests") { TextLogHandler(label: $0, logLevel: .critical) }

    /// Lends a service with one key of app ferry and one of app tram.
    private static func serve(
        rate: Int = 1000, _ body: (IntakeService, QueueFixture) async throws -> Void
    ) async throws {
        try await QueueFixture.run(subscribers: 10) { fixture in
            _ = try await fixture.admin.createApp(name: "tram", timeZone: "UTC")
            // The fixture numbers its subscribers itself.
            _ = try await fixture.client.query(
                "SELECT setval(pg_get_serial_sequence('pushfleet.subscriber', 'id'), 1000)")
            for (app, key) in [("ferry", key), ("tram", key + "-tram")] {
                _ = try await fixture.admin.addIntakeKey(
                    app: app, hash: SHA256.hash(data: Array(key.utf8)), label: "pf_kkk")
            }
            let store = IntakeStore(fixture.client)
            try await body(
                IntakeService(
                    store: store, keyring: IntakeKeyring(rate: rate) { try await store.key(hash: $0) },
                    check: SubscriberCheck { _ in true }, registry: PrometheusCollectorRegistry(), logger: logger),
                fixture)
        }
    }

    private static func call(
        _ service: IntakeService, _ method: String, _ path: String, _ body: String = "", key: String? = key,
        type: String? = "application/json"
    ) async -> (status: UInt32, body: String, headers: [String: String]) {
        var headers: [String: String] = [:]
        headers["authorization"] = key.map { "Bearer \($0)" }
        headers["content-type"] = type
        let response = await service.answer(
            HTTPServerRequest(method: method, path: path, headers: headers, body: Array(body.utf8)))
        return (
            response.status, String(decoding: response.body, as: UTF8.self),
            Dictionary(response.headers) { first, _ in first }
        )
    }

    @Test(
        arguments: [
            (.connectionFailed, "database is away"), (.deadlineExceeded, "database did not answer in time"),
            (.syntax, nil),
        ] as [(PostgresError.Code, String?)]) func `A database that is slow is not said to be away`(
            code: PostgresError.Code, said: String?
        )
    {
        #expect(IntakeService.passing(PostgresError(code, "why")).map { "\($0)" } == said)
    }

    @Test func `Only a good key of that app is let in`() async throws {
        try await Self.serve { service, fixture in
            let path = "/v1/apps/ferry/installations/u1"
            let stranger = await Self.call(service, "DELETE", path, key: nil)
            #expect(stranger.status == 401 && stranger.headers["www-authenticate"] == "Bearer")
            let unknown = "pf_" + String(repeating: "x", count: 43)
            #expect(await Self.call(service, "DELETE", path, key: unknown).status == 401)
            #expect(await Self.call(service, "DELETE", path, key: Self.key + "-tram").status == 403)
            let before = try await fixture.count("SELECT count(*) FROM pushfleet.subscriber")
            #expect(await Self.call(service, "DELETE", path).status == 204)
            #expect(await Self.call(service, "DELETE", path).status == 204)
            let after = try await fixture.count("SELECT count(*) FROM pushfleet.subscriber")
            #expect(before == 10 && after == 9)
        }
    }

    @Test func `An installation is registered, then refreshed`() async throws {
        try await Self.serve { service, _ in
            let body = """
                {"external_id": "phone/1", "transport": "fcm", "address": "token",
                 "tags": ["a", "b"], "attributes": {"plan": "pro"}}
                """
            let path = "/v1/apps/ferry/installations"
            #expect(await Self.call(service, "POST", path, body).status == 201)
            let again = await Self.call(service, "POST", path, body)
            #expect(again.status == 200 && again.body == "{\"status\":\"refreshed\"}\n")
            #expect(await Self.call(service, "DELETE", path + "/phone/1").status == 204)
            #expect(await Self.call(service, "POST", path, body).status == 201)
        }
    }

    @Test(
        arguments: [
            ("{\"external_id\": \"a\", \"transport\": \"pigeon\", \"address\": \"t\"}", "\"pointer\":\"/transport\""),
            ("{\"external_id\": \"\", \"transport\": \"fcm\", \"address\": \"t\"}", "\"pointer\":\"/external_id\""),
            ("{\"external_id\": 1, \"transport\": \"fcm\", \"address\": \"t\"}", "\"pointer\":\"/external_id\""),
            ("{\"external_id\": \"a\",", "\"code\":\"body_invalid\""), ("[]", "The body is no JSON object."),
            ("{\"wi/ngs\": 2}", "\"pointer\":\"/wi~1ngs\""), ("", "\"code\":\"body_invalid\""),
        ])
    func `A faulty installation is refused with the place of the fault`(body: String, expected: String) async throws {
        try await Self.serve { service, _ in
            let answer = await Self.call(service, "POST", "/v1/apps/ferry/installations", body)
            #expect(answer.status == 400 && answer.body.contains(expected), "\(answer.body)")
        }
    }

    @Test func `Everything that is wrong with an installation is said at once`() async throws {
        try await Self.serve { service, _ in
            let body = """
                {"external_id": "", "transport": "pigeon", "language": 7, "wings": 2, "tags": [1], "registered_at": "noon",
                 "attributes": []}
                """
            let answer = await Self.call(service, "POST", "/v1/apps/ferry/installations", body)
            struct Errors: Decodable {
                struct Problem: Decodable { let pointer, code: String }
                let errors: [Problem]
            }
            let errors = try JSONDecoder().decode(Errors.self, from: Data(answer.body.utf8)).errors
            #expect(
                errors.map(\.pointer).sorted() == [
                    "/address", "/attributes", "/external_id", "/language", "/registered_at", "/tags", "/transport",
                    "/wings",
                ])
            #expect(errors.filter { $0.code == "unknown_field" }.map(\.pointer) == ["/wings"])
        }
    }

    @Test func `Good events are counted and faulty ones named`() async throws {
        try await Self.serve { service, fixture in
            let run = try await fixture.makeExpandedRun()
            let id = UUID().uuidString
            let body = """
                {"events": [
                  {"id": "\(id)", "notification": "\(run)-1", "kind": "shown", "at": "2031-03-01T06:30:00Z"},
                  {"id": "\(id)", "notification": "\(run)-1", "kind": "shown"},
                  {"id": "\(UUID().uuidString)", "notification": "999-1", "kind": "opened"},
                  {"id": "x", "notification": "1", "kind": "eaten", "at": "noon", "by": "ann"}
                ]}
                """
            let answer = await Self.call(service, "POST", "/v1/apps/ferry/events", body)
            #expect(answer.status == 207)
            #expect(answer.body.contains("\"counted\":1") && answer.body.contains("\"repeated\":1"))
            for place in ["2/notification", "3/id", "3/notification", "3/kind", "3/at", "3/by"] {
                #expect(answer.body.contains("\"pointer\":\"/events/\(place)\""), "\(place): \(answer.body)")
            }
            let again = await Self.call(service, "POST", "/v1/apps/ferry/events", body)
            #expect(again.body.contains("\"counted\":0") && again.body.contains("\"repeated\":2"))
        }
    }

    @Test(
        arguments: [
            "", "{}", "[]", "{\"events\": []}", "{\"events\": [1]}", "{\"events\": [{}], \"more\": 1}",
            "{\"events\": [{}],}",
        ])
    func `A body that holds no event is refused`(body: String) async throws {
        try await Self.serve { service, _ in
            let answer = await Self.call(service, "POST", "/v1/apps/ferry/events", body)
            #expect(answer.status == 400 && answer.body.contains("\"errors\":[{"), "\(answer)")
        }
    }

    @Test func `Other paths, methods and media types are refused as HTTP says`() async throws {
        try await Self.serve { service, _ in
            #expect(await Self.call(service, "GET", "/").status == 404)
            #expect(await Self.call(service, "POST", "/v1/apps/ferry/subscribers").status == 404)
            #expect(await Self.call(service, "DELETE", "/v1/apps/ferry/installations/").status == 404)
            let method = await Self.call(service, "GET", "/v1/apps/ferry/events")
            #expect(method.status == 405 && method.headers["allow"] == "POST")
            #expect(await Self.call(service, "POST", "/v1/apps/ferry/events", type: "text/plain").status == 415)
            #expect(await Self.call(service, "POST", "/v1/apps/ferry/installations", type: nil).status == 415)
        }
    }

    @Test func `A key that calls too often waits, and others do not`() async throws {
        try await Self.serve(rate: 1) { service, _ in
            let path = "/v1/apps/ferry/installations/none"
            var statuses: [UInt32] = []
            for _ in 0..<4 { statuses.append(await Self.call(service, "DELETE", path).status) }
            #expect(statuses == [204, 204, 429, 429])
            #expect(await Self.call(service, "DELETE", path).headers["retry-after"].flatMap { Int($0) } ?? 0 > 0)
            let tram = await Self.call(service, "DELETE", "/v1/apps/tram/installations/none", key: Self.key + "-tram")
            #expect(tram.status == 204)
        }
    }

    @Test func `A rate fills up again with time`() async throws {
        let known = IntakeKey(id: 1, app: 1, appName: "ferry")
        let keyring = IntakeKeyring(rate: 10) { _ in known }
        let start = ContinuousClock.now
        for _ in 0..<20 { #expect(try await keyring.verdict(on: "k", at: start) == .welcome(known)) }
        guard case .tooOften = try await keyring.verdict(on: "k", at: start) else {
            Issue.record("the 21st call at once is let in")
            return
        }
        for _ in 0..<5 {
            #expect(try await keyring.verdict(on: "k", at: start + .milliseconds(510)) == .welcome(known))
        }
        #expect(try await keyring.verdict(on: "k", at: start + .milliseconds(510)) != .welcome(known))
    }

    @Test func `A revoked key is refused once it is looked up again`() async throws {
        let good = Locked(true)
        let known = IntakeKey(id: 1, app: 1, appName: "ferry")
        let keyring = IntakeKeyring(rate: 10) { _ in good.withLock { $0 } ? known : nil }
        let start = ContinuousClock.now
        #expect(try await keyring.verdict(on: "k", at: start) == .welcome(known))
        good.withLock { $0 = false }
        #expect(try await keyring.verdict(on: "k", at: start + .seconds(29)) == .welcome(known))
        #expect(try await keyring.verdict(on: "k", at: start + IntakeKeyring.memory) == .unknown)
    }
}
