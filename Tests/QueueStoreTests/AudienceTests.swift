import Domain
import Postgres
import TestSupport
import Testing

@testable import QueueStore

@Suite(.timeLimit(.minutes(5))) struct AudienceTests {
    /// An audience, and the same as a condition that was written by hand.
    struct Case: Sendable {
        var audience: String
        var condition: String
        init(_ audience: String, _ condition: String) {
            self.audience = audience
            self.condition = condition
        }
    }

    static let cases: [Case] = [
        Case(#"{"all": true}"#, "true"),
        Case(#"{"transport": ["apns", "webpush"]}"#, "transport IN (1, 3)"),
        Case(#"{"platform": ["IOS"]}"#, "id IN (2, 5, 9)"),
        Case(#"{"language": ["pt"]}"#, "id IN (1, 2, 3)"),
        Case(#"{"language": ["pt-BR"]}"#, "id IN (2, 3)"),
        Case(#"{"language": ["he", "sr-Latn"]}"#, "id IN (4, 5)"),
        Case(#"{"tag": ["vip", "it's"]}"#, "id IN (1, 6)"),
        Case(#"{"not": {"tag": ["vip"]}}"#, "id <> 1"),
        Case(#"{"attribute": "plan", "eq": "pro"}"#, "id IN (1, 2)"),
        Case(#"{"attribute": "plan", "ne": "pro"}"#, "id NOT IN (1, 2)"),
        Case(#"{"not": {"attribute": "plan", "eq": "pro"}}"#, "id NOT IN (1, 2)"),
        Case(#"{"attribute": "plan", "in": ["free", "pro", 7, true]}"#, "id IN (1, 2, 3, 4, 5)"),
        Case(#"{"attribute": "visits", "gt": 9}"#, "id IN (2, 3, 6)"),
        Case(#"{"attribute": "visits", "lte": 9.0}"#, "id IN (1, 4)"),
        Case(#"{"attribute": "visits", "gte": 9007199254740993}"#, "id IN (3, 6)"),
        Case(#"{"attribute": "visits", "eq": 9007199254740993}"#, "id = 3"),
        Case(#"{"attribute": "visits", "lt": "2"}"#, "id = 5"),
        Case(#"{"attribute": "plan", "exists": true}"#, "id IN (1, 2, 3, 4, 5)"),
        Case(#"{"attribute": "plan", "exists": false}"#, "id NOT IN (1, 2, 3, 4, 5)"),
        Case(#"{"attribute": "city", "lt": "b"}"#, "id IN (1, 2)"),
        Case(#"{"registered": {"after": "2026-02-01T00:00:00Z"}}"#, "id > 6"),
        Case(#"{"seen": {"after": "2026-01-01T00:00:00Z", "before": "2026-03-01T00:00:00Z"}}"#, "id IN (1, 2)"),
        Case(#"{"not": {"seen": {"after": "2026-01-01T00:00:00Z"}}}"#, "id > 2"),
        Case(#"{"user": ["anna", "nobody", "$1"]}"#, "id IN (1, 2, 7)"),
        Case(#"{"not": {"user": ["anna"]}}"#, "id NOT IN (1, 2)"),
        Case(#"{"externalId": ["u3", "u4"]}"#, "id IN (3, 4)"),
        Case(#"{"and": [{"transport": ["fcm"]}, {"or": [{"tag": ["vip"]}, {"user": ["$1"]}]}]}"#, "id IN (1, 7)"),
        // What would be SQL, were it text.
        Case(#"{"attribute": "'; DROP TABLE pushfleet.subscriber; --", "eq": "x' OR '1'='1"}"#, "id = 8"),
        Case(#"{"attribute": "$1", "eq": "$2"}"#, "id = 8"),
        Case(#"{"attribute": "a\\b\"c", "eq": "\\\"{}%_\u0001"}"#, "id = 8"),
        Case(#"{"tag": ["{a,b}", "\"", "\\"]}"#, "id = 8"),
        Case(#"{"attribute": "huge", "gt": 1e280}"#, "id = 8"),
        Case(#"{"attribute": "visits", "eq": null_is_text}"#.replacing("null_is_text", with: #""null""#), "false"),
    ]

    private static let people: PostgresQuery = """
        UPDATE pushfleet.subscriber s
        SET transport = coalesce(given.transport, 2), language = given.language, tags = given.tags,
            attributes = given.attributes, user_id = given.user_id,
            registered_at = CASE WHEN s.id > 6 THEN '2026-03-01Z' ELSE '2026-01-15Z' END::timestamptz,
            seen_at = CASE WHEN s.id < 3 THEN '2026-02-01Z' END::timestamptz
        FROM (VALUES
            (1, 2, 'pt', ARRAY['vip'], '{"plan": "pro", "visits": 9, "city": "Zürich"}'::jsonb, 'anna'),
            (2, 1, 'pt_BR.UTF-8', '{}', '{"plan": "pro", "visits": 10, "city": "Lisboa"}', 'anna'),
            (3, 2, 'PT-br-x-a@euro', '{}', '{"plan": "free", "visits": 9007199254740993, "city": "évora"}', NULL),
            (4, 2, 'iw-IL', '{}', '{"plan": 7, "visits": -1}', NULL),
            (5, 1, 'sh', '{}', '{"plan": true, "visits": "10"}', NULL),
            (6, 3, 'ptx', ARRAY['it''s'], '{"plan": null, "visits": 12345678901234567890123}', NULL),
            (7, 2, NULL, '{}', '{"visits": [10], "other": {"a": 1}}', '$1'),
            (8, 2, 'rubbish', ARRAY['{a,b}'], jsonb_build_object(
                '''; DROP TABLE pushfleet.subscriber; --', 'x'' OR ''1''=''1', '$1', '$2',
                'a\\b"c', E'\\\\"{}%_\\u0001', 'huge', repeat('9', 400)::numeric), NULL),
            (9, 2, '', '{}', '{"platform": "iOS"}', NULL)
        ) AS given (id, transport, language, tags, attributes, user_id)
        WHERE s.id = given.id
        """

    @Test func `an audience is who the same condition by hand names`() async throws {
        try await TemporaryDatabase.run { database in
            try await database.withClient { client in
                _ = try await client.query(
                    """
                    INSERT INTO pushfleet.subscriber (shard, id, app_id, transport, address, external_id)
                    OVERRIDING SYSTEM VALUE
                    SELECT 0, g, 1, 2, 'token-' || g, 'u' || g FROM generate_series(1, 9) g
                    """)
                _ = try await client.query(Self.people)
                for each in Self.cases {
                    let predicate = try Audience(storedJSON: each.audience).predicate()
                    let found = try await client.query(
                        "SELECT s.id::text FROM pushfleet.subscriber s WHERE \(predicate) ORDER BY s.id")
                    let expected = try await client.query(
                        "SELECT id::text FROM pushfleet.subscriber WHERE \(unescaped: each.condition) ORDER BY id")
                    #expect(found.map { $0.string(0) } == expected.map { $0.string(0) }, "\(each.audience)")
                }
            }
        }
    }

    @Test func `an audience is read back from its JSON as it was`() throws {
        for each in Self.cases {
            let audience = try Audience(storedJSON: each.audience)
            #expect(try Audience(storedJSON: audience.json.text) == audience)
        }
    }

    @Test func `segments are written out, may stand on each other and never on themselves`() async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            let app = App.ID(1)
            try await queue.admin.setSegment("a", app: "ferry", to: .tag(["x"]))
            try await queue.admin.setSegment("b", app: "ferry", to: .not(.segment("a")))
            #expect(
                try await queue.admin.writtenOut(.and([.segment("b"), .all]), app: app)
                    == .and([.not(.tag(["x"])), .all]))
            await #expect(throws: AdminError.self) {
                try await queue.admin.setSegment("a", app: "ferry", to: .segment("b"))
            }
            await #expect(throws: AdminError.self) {
                try await queue.admin.setSegment("c", app: "ferry", to: .segment("c"))
            }
            await #expect(throws: AdminError.self) { try await queue.admin.writtenOut(.segment("gone"), app: app) }
            #expect(throws: SegmentsRemain.self) { try Audience.segment("a").predicate() }
            // What another stands on is not deleted from under it.
            let standing = await #expect(throws: AdminError.self) {
                try await queue.admin.deleteSegment("a", app: "ferry")
            }
            #expect(standing?.description.contains("'b' would stand on nothing without 'a'") == true)
            #expect(try await queue.admin.deleteSegment("b", app: "ferry"))
            #expect(try await queue.admin.segments(app: "ferry").map(\.name) == ["a"])
        }
    }
}
