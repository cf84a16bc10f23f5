import Testing

@testable import Simulator

@Suite struct SendRequestTests {
    private func violation(_ body: String) -> Violation? {
        do throws(Violation) {
            _ = try SendRequestReader(Array(body.utf8))
            return nil
        } catch { return error }
    }

    private static func android(_ inner: String) -> String { #"{"message":{"token":"t","android":{\#(inner)}}}"# }
    private static func shown(_ inner: String) -> String { android(#""notification":{\#(inner)}"#) }
    private static func message(_ inner: String) -> String { #"{"message":{"token":"t",\#(inner)}}"# }

    @Test(arguments: [
        #"{"message":{"token":"t"}}"#, #"{"message":{"fid":"f"},"validate_only":true}"#,
        #"{"message":{"topic":"news.2026~a%20"}}"#, #"{"validateOnly":false,"message":{"condition":"'a' in topics"}}"#,
        android(#""priority":"high","ttl":"900s","collapse_key":"trip-88","directBootOk":true"#),
        android(#""priority":"NORMAL","ttl":"0s","restrictedPackageName":"a.b""#), android(#""ttl":"2419200s""#),
        android(#""ttl":"3.5s""#), android(#""ttl":null,"priority":null"#),
        shown(##""color":"#0b6E99","notification_count":2,"visibility":"PUBLIC","sticky":false"##),
        shown(#""notificationCount":"7","event_time":"2026-03-01T08:30:00.000000Z","vibrate_timings":["0s","0.250s"]"#),
        shown(#""notification_count":-1e2,"event_time":"2026-03-01T08:30:00+02:00","proxy":"DENY""#),
        shown(#""title_loc_key":"k","titleLocArgs":["a","b"],"notification_priority":"PRIORITY_MAX""#),
        shown(
            #""light_settings":{"color":{"red":1,"green":0.5,"blue":0,"alpha":1e-1},"#
                + #""light_on_duration":"1s","lightOffDuration":"0.5s"}"#),
        message(#""data":{"id":"1","score":"2","collapse_key":"x","From":"y","fromage":"z"}"#), message(#""data":{}"#),
        message(#""data":{"a":"1"},"apns":{"payload":{"aps":{"category":"TRIP"}}}"#),
        message(
            #""data":{"a":"1"},"apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"content-available":1}}}"#),
        message(
            #""notification":{"title":"a","body":"b"},"apns":{"headers":{"apns-priority":"10","apns-expiration":"1774000000"},"#
                + #""payload":{"aps":{"alert":{"title":"x"},"badge":2},"more":[1,{"a":null}]},"fcm_options":{"image":"i"}}"#
        ),
        message(
            #""webpush":{"headers":{"TTL":"900","Urgency":"high"},"notification":{"icon":"i","vibrate":[1,2],"x":null},"#
                + #""fcm_options":{"link":"https://ferry.example/trips/88","analytics_label":"winter"}}"#),
        message(#""android_v2":{"remote_notification":{"notification":{"id":4,"tag":"x"},"mutable_content":true}}"#),
        message(#""name":"ignored","fcm_options":{"analytics_label":"a-_.~%"}"#),
    ])
    func `requests that FCM takes pass`(body: String) {
        #expect(violation(body) == nil)
    }

    @Test(arguments: [
        ("[]", ""), ("", ""), ("{}", ""), (#"{"message":null}"#, ""), (#"{"message":{}}"#, "message"),
        (#"{"message":{"token":"t","topic":"x"}}"#, "message"), (#"{"message":{"token":"t","fid":"x"}}"#, "message"),
        (#"{"message":{"token":"t"},"dryRun":true}"#, "dryRun"), (message(#""androids":{}"#), "message.androids"),
        (message(#""validate_only":true"#), "message.validate_only"), (message(#""to":"x""#), "message.to"),
        (#"{"message":{"token":"t"},"validate_only":"true"}"#, "validate_only"),
        (#"{"message":{"token":"t","token":"t"}}"#, "message.token"),
        (android(#""ttl":"1s"},"android":{"#), "message.android"),
        (android(#""collapse_key":"a","collapseKey":"b""#), "message.android.collapse_key"),
        (#"{"message":{"token":""}}"#, "message.token"), (#"{"message":{"token":"a b"}}"#, "message.token"),
        (#"{"message":{"token":7}}"#, "message.token"), (#"{"message":{"topic":"/topics/x"}}"#, "message.topic"),
        (#"{"message":{"topic":""}}"#, "message.topic"),
        (#"{"message":{"condition":"a in topics"}}"#, "message.condition"),
        (message(#""data":{"n":12}"#), "message.data[0].value"),
        (message(#""data":{"a":"1","b":null}"#), "message.data[1].value"),
        (message(#""data":{"a":{"b":"c"}}"#), "message.data[0].value"), (message(#""data":["a"]"#), "message.data"),
        (message(#""data":{"from":"x"}"#), "message.data"), (message(#""data":{"message_type":"x"}"#), "message.data"),
        (message(#""data":{"gcm.x":"x"}"#), "message.data"), (message(#""data":{"google.c":"x"}"#), "message.data"),
        (message(#""data":{"\u0066rom":"x"}"#), "message.data"),
        (message(#""webpush":{"data":{"gcm":"x"}}"#), "message.webpush.data"),
        (message(#""android":{},"android_v2":{}"#), "message"),
        (android(#""priority":"HIGHEST""#), "message.android.priority"),
        (android(#""priority":10"#), "message.android.priority"),
        (android(#""ttl":900"#), "message.android.ttl"), (android(#""ttl":"900""#), "message.android.ttl"),
        (android(#""ttl":"-1s""#), "message.android.ttl"), (android(#""ttl":"2419201s""#), "message.android.ttl"),
        (android(#""ttl":"2419200.000000001s""#), "message.android.ttl"),
        (android(#""ttl":"1.s""#), "message.android.ttl"),
        (android(#""ttl":".5s""#), "message.android.ttl"), (android(#""ttl":"1.0000000001s""#), "message.android.ttl"),
        (android(#""direct_boot_ok":1"#), "message.android.direct_boot_ok"),
        (shown(#""color":"0b6e99""#), "message.android.notification.color"),
        (shown(##""color":"#0b6e9g""##), "message.android.notification.color"),
        (shown(#""visibility":"public""#), "message.android.notification.visibility"),
        (shown(#""notification_count":1.5"#), "message.android.notification.notification_count"),
        (shown(#""notification_count":2147483648"#), "message.android.notification.notification_count"),
        (shown(#""notification_count":"x""#), "message.android.notification.notification_count"),
        (shown(#""title_loc_args":["a"]"#), "message.android.notification"),
        (shown(#""body_loc_key":"k","body_loc_args":["a",1]"#), "message.android.notification.body_loc_args[1]"),
        (shown(#""event_time":"2026-13-01T08:30:00Z""#), "message.android.notification.event_time"),
        (shown(#""event_time":"2026-03-01""#), "message.android.notification.event_time"),
        (shown(#""vibrate_timings":["1"]"#), "message.android.notification.vibrate_timings[0]"),
        (shown(#""light_settings":{"color":{"red":1}}"#), "message.android.notification.light_settings"),
        (
            shown(#""light_settings":{"color":{"red":1.1},"light_on_duration":"1s","light_off_duration":"1s"}"#),
            "message.android.notification.light_settings.color.red"
        ), (shown(#""id":4"#), "message.android.notification.id"),
        (message(#""android_v2":{"remote_notification":{},"background_sync":{}}"#), "message.android_v2"),
        (message(#""data":{"a":"1"},"apns":{"headers":{"apns-priority":"10"}}"#), "message.apns.headers"),
        (message(#""apns":{"headers":{"apns-priority":"7"}}"#), "message.apns.headers"),
        (message(#""apns":{"headers":{"apns-priority":5}}"#), "message.apns.headers[0].value"),
        (message(#""apns":{"payload":{"aps":"x"}}"#), "message.apns.payload.aps"),
        (message(#""apns":{"payload":"x"}"#), "message.apns.payload"),
        (message(#""webpush":{"headers":{"Urgency":"urgent"}}"#), "message.webpush.headers"),
        (message(#""webpush":{"headers":{"TTL":"-1"}}"#), "message.webpush.headers"),
        (message(#""webpush":{"fcm_options":{"link":"http://x.example"}}"#), "message.webpush.fcm_options.link"),
        (message(#""fcm_options":{"analytics_label":"two words"}"#), "message.fcm_options.analytics_label"),
        (message(#""notification":{"title":1}"#), "message.notification.title"),
        (message(#""notification":"x""#), "message.notification"),
    ])
    func `requests that FCM refuses name the field`(body: String, field: String) throws {
        let violation = try #require(self.violation(body))
        #expect(violation.field == field)
    }

    @Test(arguments: [
        "'a' in topics", "'a' in topics && 'b' in topics", "('a' in topics || 'b' in topics) && !('c' in topics)",
        "('a' in topics)", "'a' in topics || 'b' in topics || 'c' in topics || 'd' in topics || 'e' in topics",
    ])
    func `conditions of the grammar pass`(condition: String) {
        #expect(TopicCondition.isValid(Array(condition.utf8)))
    }

    @Test(arguments: [
        "", "a in topics", "'a' in topic", "'a' in topics&&'b' in topics", "!'a' in topics", "('a' in topics",
        "'a' in topics &&", "'a b' in topics", "'' in topics",
        "'a' in topics || 'b' in topics || 'c' in topics || 'd' in topics || 'e' in topics || 'f' in topics",
    ])
    func `other conditions are refused`(condition: String) {
        #expect(!TopicCondition.isValid(Array(condition.utf8)))
    }

    // {"id":"…"} costs nine bytes more than its value.
    @Test(arguments: [("token", 4096), ("topic", 2048)])
    func `a payload may have as many bytes as its target allows`(target: String, limit: Int) throws {
        func body(_ bytes: Int, space: String = "") -> String {
            let value = String(repeating: "x", count: bytes - 9)
            return #"{"message":{"\#(target)":"t","data":\#(space){"id":\#(space)"\#(value)"}}}"#
        }
        #expect(violation(body(limit)) == nil)
        #expect(violation(body(limit, space: "   \n ")) == nil, "white space does not count")
        let tooBig = try #require(violation(body(limit + 1)))
        #expect(tooBig == .tooBig)
    }

    @Test func `escapes count as what they stand for`() {
        let value = String(repeating: #"\u00e9"#, count: (4096 - 9) / 2)
        #expect(violation(#"{"message":{"token":"t","data":{"id":"\#(value)"}}}"#) == nil)
        #expect(violation(#"{"message":{"token":"t","data":{"id":"\#(value)\u00e9"}}}"#) == .tooBig)
    }

    @Test func `notification blocks count, and a platform's data replaces the common`() {
        let half = String(repeating: "x", count: 2040)
        #expect(violation(Self.message(#""data":{"a":"\#(half)"},"android":{"data":{"a":"\#(half)"}}"#)) == nil)
        let both = #""data":{"a":"\#(half)"},"android":{"notification":{"body":"\#(half)"}}"#
        #expect(violation(Self.message(both)) == .tooBig)
    }

    @Test func `what the device model needs is noticed`() throws {
        let body =
            #"{"message":{"android":{"data":{"id":"b"},"notification":{"tag":"x"}},"data":{"id":"a","silent":"1"},"token":"t"}}"#
        let reader = try SendRequestReader(Array(body.utf8))
        let id = try #require(reader.request.id)
        let tag = try #require(reader.request.tag)
        #expect(reader.scanner.decoded(id) == Array("b".utf8), "Android's own data counts before the common")
        #expect(reader.scanner.decoded(tag) == Array("x".utf8))
        #expect(reader.request.parts.isSuperset(of: [.notification, .silent, .data]))
    }
}
