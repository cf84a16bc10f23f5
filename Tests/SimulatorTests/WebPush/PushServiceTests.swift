import Crypto
import Foundation
import HTTP2
import Testing

@testable import Simulator

@Suite struct PushServiceTests {
    @Test func `a good push is accepted and read by the browser`() throws {
        let sender = try PushSender()
        let response = try #require(try sender.push("a").response)
        #expect(response.status == 201)
        #expect(response.fields.contains { $0.0 == "location" && $0.1.hasPrefix("/m/") })
        #expect(sender.counts.accepted == 1)
        #expect(sender.counts.unreadable == 0)
        #expect(sender.counts.notificationsShown == 1)
        #expect(sender.counts.distinctIDs == 1)
    }

    @Test(
        arguments: [
            ("ttl", nil, 400), ("ttl", "", 400), ("ttl", "-1", 400), ("ttl", "1.5", 400), ("ttl", "0", 201),
            ("urgency", nil, 201), ("urgency", "urgent", 400), ("urgency", "very-low", 201),
            ("topic", nil, 201), ("topic", "a.b", 400), ("topic", "", 400),
            ("topic", String(repeating: "a", count: 32), 201), ("topic", String(repeating: "a", count: 33), 400),
            ("content-encoding", nil, 400), ("content-encoding", "aesgcm", 400), ("authorization", nil, 401),
            ("authorization", "Bearer x", 401),
        ] as [(String, String?, Int)])
    func `each header is held to the protocol`(name: String, value: String?, status: Int) throws {
        let sender = try PushSender()
        #expect(try sender.push("a", fields: [name: value]).response?.status == status)
    }

    @Test func `Apple and Microsoft want a life above zero`() throws {
        let sender = try PushSender()
        for manners in ["apple", "wns"] {
            #expect(try sender.push("a", manners: manners, fields: ["ttl": "0"]).response?.status == 400)
            #expect(try sender.push("a", manners: manners, fields: ["ttl": "1"]).response?.status == 201)
        }
    }

    @Test func `a body is at most 4096 bytes and one whole record`() throws {
        let sender = try PushSender()
        let largest = try sender.sealed(String(repeating: "x", count: 3993), for: "a")
        #expect(largest.count == 4096)
        #expect(try sender.push("a", body: largest).response?.status == 201)
        #expect(try sender.push("a", body: largest + [0]).response?.status == 413)
        #expect(try sender.push("a", body: Array(largest.prefix(60))).response?.status == 400)
        #expect(try sender.push("a", body: []).response?.status == 201)
        #expect(try sender.push("a", method: "GET").response?.status == 405)
    }

    @Test func `what the browser cannot read is counted, and nothing of it shown`() throws {
        let sender = try PushSender()
        let forAnother = try sender.sealed(#"{"id":"1-1","title":"x"}"#, for: "b")
        #expect(try sender.push("a", body: forAnother).response?.status == 201)
        #expect(try sender.push("a", "no JSON").response?.status == 201)
        #expect(sender.counts.unreadable == 2)
        #expect(sender.counts.notificationsShown == 0)
    }

    @Test func `a repeat replaces itself by its tag, and without one appears again`() throws {
        let sender = try PushSender()
        for _ in 0..<3 { _ = try sender.push("a") }
        #expect(sender.counts.notificationsShown == 1)
        #expect(sender.counts.repeats == 2)
        #expect(sender.counts.devicesShownMoreThanOnce == 0)
        for _ in 0..<2 { _ = try sender.push("b", #"{"id":"1-2","title":"x"}"#) }
        #expect(sender.counts.devicesShownMoreThanOnce == 1)
    }

    @Test func `another notification with the same tag takes the place of the first`() throws {
        let sender = try PushSender()
        for id in ["1-1", "2-1"] { _ = try sender.push("a", #"{"id":"\#(id)","tag":"trip","title":"x"}"#) }
        #expect(sender.counts.replaced == 1)
        #expect(sender.counts.devicesShownMoreThanOnce == 0)
        _ = try sender.push("b", #"{"id":"3-1","tag":"trip","title":"x"}"#)
        #expect(sender.counts.replaced == 1, "tags are each browser's own")
    }

    @Test func `for a browser that is away the service keeps one message of each topic`() throws {
        let sender = try PushSender()
        for topic in ["x", "y", "x"] { _ = try sender.push("away-1", fields: ["topic": topic]) }
        _ = try sender.push("away-1", fields: ["topic": nil])
        #expect(sender.counts.replacedWaiting == 1)
        #expect(sender.counts.notificationsShown == 0)
    }

    @Test func `declarative messages are read too`() throws {
        let sender = try PushSender()
        let text = #"{"notification":{"data":{"data":{"id":"no"},"id":"1-1"},"tag":"t","title":"x"},"web_push":8030}"#
        for _ in 0..<2 { _ = try sender.push("a", text) }
        #expect(sender.counts.repeats == 1)
        #expect(sender.counts.notificationsShown == 1)
        #expect(sender.counts.withoutID == 0)
    }

    @Test func `a subscription takes the key that it was made for and no other`() throws {
        let sender = try PushSender()
        let own = VAPIDCheck.fingerprint(try sender.key.publicKey.x963Representation)
        #expect(try sender.push("a", query: "?k=\(own)").response?.status == 201)
        let response = try #require(try sender.push("a", query: "?k=AAAAAAAAAAA").response)
        #expect(response.status == 403)
        #expect(String(decoding: response.body, as: UTF8.self).contains("do not correspond to the credentials used"))
        let apple = try #require(try sender.push("a", manners: "apple", query: "?k=AAAAAAAAAAA").response)
        #expect(String(decoding: apple.body, as: UTF8.self) == #"{"reason":"VapidPkHashMismatch"}"#)
    }

    @Test(
        arguments: [
            ("dead-1", "", 410), ("dead-1", "mozilla", 410), ("dead-1", "apple", 410), ("bad-1", "", 404),
            ("bad-1", "apple", 400), ("mismatch-1", "", 403), ("quota-1", "", 429), ("quota-1", "apple", 429),
            ("e401-1", "", 401), ("e500-1", "", 500), ("e503-1", "mozilla", 503), ("html502-1", "", 502),
            ("thirdparty-1", "", 403), ("empty-1", "", 200), ("redirect-1", "", 307), ("toolarge-1", "", 413),
            ("throttled-1", "", 406), ("dropped-1", "", 200), ("blocked-1", "", 410), ("apple-BadPath-1", "", 404),
            ("apple-IdleTimeout-1", "", 400), ("apple-Shutdown-1", "", 503), ("mozilla-902-1", "", 502),
            ("mozilla-202-1", "", 503), ("apple-Unknown-1", "", 201), ("badrequest-1", "", 400),
        ] as [(String, String, Int)])
    func `a token asks for its answer by how it begins`(token: String, manners: String, status: Int) throws {
        #expect(try PushSender().push(token, manners: manners).response?.status == status)
    }

    @Test func `shares of requests fail as they are set`() throws {
        let sender = try PushSender(faults: "unregistered=30%")
        var gone = 0
        for number in 0..<300 where try sender.push("s-\(number)").response?.status == 410 { gone += 1 }
        #expect((60...120).contains(gone))
    }

    @Test func `paths lead to a subscription or to none`() {
        #expect(PushPath("/push/a") != nil)
        #expect(PushPath("/push/apple/a")?.manners == .apple)
        #expect(PushPath("/push/a?k=b")?.key == "b")
        for path in ["/push/", "/push/other/a", "/push/a/b/c", "/pushes/a", "/push/apple/"] {
            #expect(PushPath(path) == nil, "\(path)")
        }
    }
}
