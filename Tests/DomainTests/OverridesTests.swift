import Testing

@testable import Domain

struct OverridesTests {
    @Test(
        arguments: [
            (
                ##"{"android":{"ttl":"3.5s","collapse_key":"k","notification":{"notification_count":3,"color":"#0b6e99"}}}"##,
                []
            ),
            (#"{"apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"category":"TRIP"},"x":[1,null]}}}"#, []),
            (
                #"{"webpush":{"notification":{"requireInteraction":true},"fcm_options":{"link":"https://ferry.example/"}}}"#,
                []
            ),
            (#"{"ios":{}}"#, ["unknown_field /ios"]),
            (#"{"android":[]}"#, ["type_invalid /android"]),
            (##"{"android":{"notification":{"colour":"#fff"}}}"##, ["unknown_field /android/notification/colour"]),
            (##"{"android":{"notification":{"color":"#fff"}}}"##, ["override_invalid /android/notification/color"]),
            (#"{"android":{"ttl":"2419201s"}}"#, ["override_invalid /android/ttl"]),
            (#"{"android":{"ttl":3600}}"#, ["override_invalid /android/ttl"]),
            (#"{"android":{"priority":"URGENT"}}"#, ["override_invalid /android/priority"]),
            (#"{"android":{"collapseKey":"a","collapse_key":"b"}}"#, ["override_invalid /android/collapse_key"]),
            (
                #"{"android":{"notification":{"notificationCount":2147483648}}}"#,
                ["override_invalid /android/notification/notificationCount"]
            ),
            (
                #"{"android":{"notification":{"titleLocArgs":["a"]}}}"#,
                ["override_invalid /android/notification/titleLocKey"]
            ),
            (
                #"{"android":{"notification":{"lightSettings":{"color":{"red":2},"lightOnDuration":"1s"}}}}"#,
                [
                    "override_invalid /android/notification/lightSettings/color/red",
                    "override_invalid /android/notification/lightSettings/lightOffDuration",
                ]
            ),
            (
                #"{"android":{"data":{"google.x":"1","n":1}}}"#,
                ["override_invalid /android/data/google.x", "override_invalid /android/data/n"]
            ),
            (
                #"{"apns":{"headers":{"apns-id":"1","Apns-Topic":"x"}}}"#,
                ["override_invalid /apns/headers/Apns-Topic", "override_invalid /apns/headers/apns-id"]
            ),
            (
                #"{"webpush":{"headers":{"Authorization":"x","content-encoding":"x"}}}"#,
                [
                    "override_invalid /webpush/headers/Authorization",
                    "override_invalid /webpush/headers/content-encoding",
                ]
            ),
            (
                #"{"webpush":{"fcmOptions":{"link":"http://ferry.example/","analyticsLabel":"a b"}}}"#,
                ["override_invalid /webpush/fcmOptions/analyticsLabel", "override_invalid /webpush/fcmOptions/link"]
            ),
            (#"{"apns":{"payload":"x"}}"#, ["override_invalid /apns/payload"]),
            (#"{"apns":{"payload":{"aps":5}}}"#, ["override_invalid /apns/payload/aps"]),
            (#"{"apns":{"payload":{"aps":{"alert":null}}}}"#, ["override_invalid /apns/payload/aps/alert"]),
            (#"{"apns":{"payload":{"aps":{"alert":"x"}}}}"#, []),
            (#"{"apns":{"payload":{"aps":{"alert":{"title":"x"}},"alert":null}}}"#, []),
        ] as [(String, [String])])
    func `overrides are held to the provider's message`(overrides: String, expected: [String]) {
        var found: [String] = []
        do {
            _ = try MessageReader.message(from: #"{"silent":true,"overrides":\#(overrides)}"#)
        } catch {
            found = error.problems.map { "\($0.code) \($0.pointer.dropFirst("/overrides".count))" }
        }
        #expect(found == expected)
    }

    @Test func `overrides are kept as they were written`() throws {
        let message = try MessageReader.message(
            from: #"{"silent":true,"overrides":{"android":{"collapse_key":"k"},"apns":{"payload":{"x":1}}}}"#)
        #expect(message.overrides.android == .object(["collapse_key": .string("k")]))
        #expect(message.overrides.apns == .object(["payload": .object(["x": .integer(1)])]))
        #expect(message.overrides.webpush == nil)
    }
}
