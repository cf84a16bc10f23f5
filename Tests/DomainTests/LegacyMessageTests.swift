import Testing

@testable import Domain

struct LegacyMessageTests {
    private func v1(_ json: String) throws -> (requests: [String], notes: [String]) {
        var message = try LegacyMessage(Array(json.utf8))
        let requests = message.v1Requests(now: 1_774_000_000).map(\.text)
        return (requests, message.notes.map(\.pointer))
    }

    @Test(
        arguments: [
            (#"{"to":"t"}"#, #"{"message":{"token":"t"}}"#), (#"{"to":"/topics/x"}"#, #"{"message":{"topic":"x"}}"#),
            (
                #"{"condition":"'a' in topics && 'b' in topics"}"#,
                #"{"message":{"condition":"'a' in topics && 'b' in topics"}}"#
            ),
            (
                #"{"to":"t","collapse_key":"k"}"#,
                #"{"message":{"android":{"collapse_key":"k"},"apns":{"headers":{"apns-collapse-id":"k"}},"token":"t","webpush":{"headers":{"Topic":"k"}}}}"#
            ),
            (
                #"{"to":"t","priority":"high"}"#,
                #"{"message":{"android":{"priority":"high"},"apns":{"headers":{"apns-priority":"10"}},"token":"t","webpush":{"headers":{"Urgency":"high"}}}}"#
            ),
            (
                #"{"to":"t","priority":5}"#,
                #"{"message":{"android":{"priority":"normal"},"apns":{"headers":{"apns-priority":"5"}},"token":"t","webpush":{"headers":{"Urgency":"normal"}}}}"#
            ),
            (
                #"{"to":"t","time_to_live":60}"#,
                #"{"message":{"android":{"ttl":"60s"},"apns":{"headers":{"apns-expiration":"1774000060"}},"token":"t","webpush":{"headers":{"TTL":"60"}}}}"#
            ),
            (
                #"{"to":"t","time_to_live":0}"#,
                #"{"message":{"android":{"ttl":"0s"},"apns":{"headers":{"apns-expiration":"0"}},"token":"t","webpush":{"headers":{"TTL":"0"}}}}"#
            ),
            (
                #"{"to":"t","content_available":true}"#,
                #"{"message":{"apns":{"headers":{"apns-priority":"5","apns-push-type":"background"},"payload":{"aps":{"content-available":1}}},"token":"t"}}"#
            ),
            (
                #"{"to":"t","mutable_content":true,"content_available":false}"#,
                #"{"message":{"apns":{"payload":{"aps":{"mutable-content":1}}},"token":"t"}}"#
            ),
            (#"{"to":"t","dry_run":true}"#, #"{"message":{"token":"t"},"validate_only":true}"#),
            (
                #"{"to":"t","restricted_package_name":"a.b"}"#,
                #"{"message":{"android":{"restricted_package_name":"a.b"},"token":"t"}}"#
            ),
            (#"{"to":"t","data":{"a":"b"}}"#, #"{"message":{"data":{"a":"b"},"token":"t"}}"#),
            (
                #"{"to":"t","notification":{"title":"T","body":"B","image":"https://x/i.png"}}"#,
                #"{"message":{"notification":{"body":"B","image":"https://x/i.png","title":"T"},"token":"t"}}"#
            ),
            (
                #"{"to":"t","notification":{"title":"T","subtitle":"S"}}"#,
                #"{"message":{"apns":{"payload":{"aps":{"alert":{"subtitle":"S","title":"T"}}}},"notification":{"title":"T"},"token":"t"}}"#
            ),
            (
                #"{"to":"t","notification":{"sound":"default","badge":"3"}}"#,
                #"{"message":{"android":{"notification":{"notification_count":3,"sound":"default"}},"apns":{"payload":{"aps":{"badge":3,"sound":"default"}}},"token":"t"}}"#
            ),
            (
                #"{"to":"t","notification":{"click_action":"https://x.example/"}}"#,
                #"{"message":{"android":{"notification":{"click_action":"https://x.example/"}},"apns":{"payload":{"aps":{"category":"https://x.example/"}}},"token":"t","webpush":{"fcm_options":{"link":"https://x.example/"}}}}"#
            ),
            (
                #"{"to":"t","notification":{"body_loc_key":"k","body_loc_args":"[\"a\",\"b\"]","title_loc_key":"l","title_loc_args":["c"]}}"#,
                #"{"message":{"android":{"notification":{"body_loc_args":["a","b"],"body_loc_key":"k","title_loc_args":["c"],"title_loc_key":"l"}},"apns":{"payload":{"aps":{"alert":{"loc-args":["a","b"],"loc-key":"k","title-loc-args":["c"],"title-loc-key":"l"}}}},"token":"t"}}"#
            ),
            (
                ##"{"to":"t","notification":{"android_channel_id":"c","icon":"ic","tag":"g","color":"#aabbcc"}}"##,
                ##"{"message":{"android":{"notification":{"channel_id":"c","color":"#aabbcc","icon":"ic","tag":"g"}},"token":"t","webpush":{"notification":{"tag":"g"}}}}"##
            ),
            (
                #"{"to":"t","notification":{"icon":"https://x.example/i.png"}}"#,
                #"{"message":{"token":"t","webpush":{"notification":{"icon":"https://x.example/i.png"}}}}"#
            ),
        ]) func `each member becomes its successor`(old: String, new: String) throws
    {
        #expect(try v1(old).requests == [new])
    }

    @Test(arguments: [
        (#"{"to":"t","message_id":"m"}"#, "/message_id"),
        (#"{"to":"t","delivery_receipt_requested":true}"#, "/delivery_receipt_requested"),
        (#"{"to":"t","delay_while_idle":true}"#, "/delay_while_idle"),
        (#"{"to":"t","message_type":"ack"}"#, "/message_type"),
        (#"{"to":"t","whatever":1}"#, "/whatever"),
        (#"{"to":"t","notification":{"vibrate":1}}"#, "/notification/vibrate"),
        (#"{"to":"t","notification":{"badge":"many"}}"#, "/notification/badge"),
        (#"{"to":"t","notification":{"click_action":"OPEN"}}"#, "/notification/click_action"),
        (#"{"to":"t","notification":{"body_loc_args":"x"}}"#, "/notification/body_loc_args"),
        (#"{"to":"t","data":{"n":1}}"#, "/data/n"), (#"{"registration_ids":["a"]}"#, "/registration_ids"),
    ])
    func `what v1 says otherwise or not at all is named`(old: String, pointer: String) throws {
        #expect(try v1(old).notes == [pointer])
    }

    @Test func `several tokens become several requests`() throws {
        #expect(
            try v1(#"{"registration_ids":["a","b"],"data":{"n":{"x":[1]}}}"#).requests == [
                #"{"message":{"data":{"n":"{\"x\":[1]}"},"token":"a"}}"#,
                #"{"message":{"data":{"n":"{\"x\":[1]}"},"token":"b"}}"#,
            ])
    }

    @Test(
        arguments: [
            ("{}", ["audience_invalid /to"]), (#"{"to":"t","condition":"'a' in topics"}"#, ["audience_invalid /to"]),
            (#"{"to":7}"#, ["type_invalid /to"]), (#"{"condition":"a"}"#, ["audience_invalid /condition"]),
            (#"{"to":"t","time_to_live":2419201}"#, ["delivery_invalid /time_to_live"]),
            (#"{"to":"t","priority":"urgent"}"#, ["delivery_invalid /priority"]),
            (
                #"{"to":"t","data":{"google.x":"1","gcm":"2"}}"#,
                ["data_key_reserved /data/gcm", "data_key_reserved /data/google.x"]
            ),
            (
                #"{"to":"t","dry_run":"yes","notification":[]}"#,
                ["type_invalid /dry_run", "type_invalid /notification"]
            ),
            ("[]", ["type_invalid "]),
        ] as [(String, [String])])
    func `what the old interface would have refused is refused`(old: String, expected: [String]) {
        let error = #expect(throws: ContentProblems.self) { try LegacyMessage(Array(old.utf8)) }
        #expect(error?.problems.map { "\($0.code) \($0.pointer)" } == expected)
    }

    @Test(arguments: [
        ##"{"to":"/topics/news","priority":"high","time_to_live":60,"collapse_key":"k","notification":{"title":"T","body":"B","sound":"default","badge":"2","icon":"ic","color":"#aabbcc","click_action":"OPEN","android_channel_id":"c","body_loc_key":"k","body_loc_args":"[\"a\"]"},"data":{"a":1}}"##,
        #"{"condition":"'a' in topics","data":{"a":"b"},"content_available":true}"#,
        #"{"to":"/topics/x","notification":{"title":"T","body":"B","click_action":"https://x.example/","icon":"https://x.example/i.png","image":"https://x.example/j.png"}}"#,
    ])
    func `the campaign that a message means is strictly valid`(old: String) throws {
        var message = try LegacyMessage(Array(old.utf8))
        let file = message.campaign(app: "ferry", name: "Old", language: "en", now: 0)
        let campaign = try CampaignFile.parse(Array(file.text.utf8), mode: .strict)
        #expect(campaign.target != nil && campaign.delivery.fcmMode == .notification)
    }

    @Test func `a campaign of a message to tokens is for nobody until its audience is named`() throws {
        var message = try LegacyMessage(Array(#"{"to":"t","data":{"a":"b"}}"#.utf8))
        let file = message.campaign(app: "ferry", name: "Old", language: "en", now: 0)
        #expect(throws: ContentProblems.self) { try CampaignFile.parse(Array(file.text.utf8), mode: .strict) }
        #expect(message.notes.map(\.pointer) == ["/audience"])
    }
}
