/// Messages on both sides of each rule that needs no segmentation of text.
enum MessageCases {
    static func variant(_ member: String) -> String {
        let others = [#""title":"T""#, #""body":"B""#].filter { !member.hasPrefix($0.prefix(7)) }
        return #"{"content":{"en":{\#((others + [member]).joined(separator: ","))},"_default":"en"}}"#
    }

    private static func presentation(_ member: String) -> String {
        #"{"content":{"en":{"title":"T","body":"B"},"_default":"en"},"presentation":{\#(member)}}"#
    }

    private static func data(_ members: String) -> String { #"{"silent":true,"data":{\#(members)}}"# }

    private static func languages(_ members: String) -> String {
        #"{"content":{\#(members.replacing("%", with: #"{"title":"T","body":"B"}"#))}}"#
    }

    private static func overrides(_ members: String) -> String { #"{"silent":true,"overrides":\#(members)}"# }

    private static func text(_ count: Int) -> String { "\"" + String(repeating: "x", count: count) + "\"" }

    static let all: [String] = shapes + texts + links + buttons + keys + options + entries + blocks

    private static let shapes = [
        "null", "[]", "7", "{}", #"{"silent":true}"#, #"{"silent":"yes"}"#, #"{"silent":null}"#, #"{"silent":false}"#,
        #"{"silent":true,"content":[],"presentation":1}"#, #"{"silent":true,"content":{"en":{"title":""}}}"#,
        #"{"content":{}}"#, #"{"content":[]}"#, #"{"content":{"_default":"en"}}"#, #"{"content":{"en":7}}"#,
        #"{"template":"welcome"}"#, #"{"template":" "}"#, #"{"template":7}"#, #"{"template":"w","silent":true,"x":1}"#,
        #"{"content":{"en":{"title":1,"body":"B","image":null,"x":2},"_default":"en"},"y":1,"a/b~c":2}"#,
        #"{"silent":true,"data":[]}"#, #"{"silent":true,"presentation":{"badge":-1}}"#,
        #"{"content":{"en":{"title":"T","body":"B"},"_default":7}}"#,
    ]

    private static let texts = [
        #""title":"""#, #""title":" \t\u2003""#, #""title":"\u200B""#, #""title":\#(text(200))"#,
        #""title":\#(text(201))"#, #""body":\#(text(1000))"#, #""body":\#(text(1001))"#, #""body":\#(text(16_385))"#,
        #""body":"\n""#, #""body":null"#, #""body":"\u0085\u00A0\u1680\u2028\u3000""#, #""body":"{{{a}}""#,
        #""body":"{{a|b}}}""#, #""body":"{{a|}}{{ b }}{{\tc.d-e_f\t|x}}""#, #""body":"{{a\n}}""#,
        #""body":"{{a|b\n}}""#,
        #""body":"{{1a}}""#, #""body":"{{é}}""#, #""body":"{{a|{{b}}}}""#, #""body":"{{""#, #""body":"{{a}""#,
        #""body":"}} {a} {""#, #""body":"{{\#(String(repeating: "n", count: 64))}}""#,
        #""body":"{{\#(String(repeating: "n", count: 65))}}""#, #""body":"{{a|b}c}}""#, #""body":"{{a}}{{b""#,
    ].map(variant)

    private static let links =
        [
            "ferry://trip", "http://x.example", "mailto:a@x.example", "{{a}}", "https://x/{{a|b c}}",
            "javascript:alert(1)",
            "DATA:text/html,x", "vbscript:x", "file:///etc", "trip", "", "https://", "s://a b", "https:///x",
            "HTTPS://x",
            "https:/x", "https://:80", "https://a@:80", "https://a@b@/x", "https://a:b@c", "https://?q", "https://x#",
            ":x",
            "1a:b", "a1+-.:b", "s://\u{2003}", "s://\u{200B}", "https://é.example", "https://x\u{3000}", "http:x", "{{",
            "s:{{",
        ].flatMap { [variant(#""url":"\#($0)""#), variant(#""image":"\#($0)""#), presentation(#""icon":"\#($0)""#)] }
        + [2048, 2049].flatMap { count in
            let link = "https://x/" + String(repeating: "x", count: count - 10)
            return [variant(#""url":"\#(link)""#), variant(#""image":"\#(link)""#)]
        }

    private static let buttons = [
        "[]", "{}", "[1]", #"[{"id":"a","title":"A"},{"id":"b","title":"B"},{"id":"c","title":"C"}]"#,
        #"[{"id":"a","title":"A"},{"id":"b","title":"B"},{"id":"c","title":"C"},{"id":"d","title":"D"}]"#,
        #"[{"id":"a","title":"A"},{"id":"a","title":"B"},{"id":"a","title":"C"}]"#, #"[{}]"#, #"[{"id":1,"title":2}]"#,
        #"[{"id":"A b","title":" ","url":"x","y":1}]"#, #"[{"id":\#(text(33)),"title":\#(text(41))}]"#,
        #"[{"id":\#(text(32)),"title":\#(text(40))}]"#, #"[{"id":null,"title":"{{a}}"},{"id":"é","title":"{a}"}]"#,
        #"[{"id":"!","title":"A"},{"id":"!","title":"B"}]"#,
    ].map { variant(#""actions":\#($0)"#) }

    private static let keys = [
        #""en":%"#, #""en":%,"_default":"EN""#, #""en":%,"_default":"de""#, #""pt-BR":%,"PT_br":%,"_default":"pt_BR""#,
        #""iw":%,"he":%,"_default":"he""#, #""sh":%,"sr-Latn":%,"_default":"sh""#,
        #""sh-Cyrl":%,"sr":%,"_default":"sr""#,
        #""en-UK":%,"en-GB":%,"_default":"en-gb""#, #""en-x-uk":%,"en-x-gb":%,"_default":"en-x-uk""#,
        #""e":%,"_default":"e""#, #""english-language-tags":%,"_default":"english-language-tags""#,
        #""en-":%,"_default":"en-""#,
        #""en--GB":%,"_default":"x""#, #""":%,"_default":""#, #""_x":%,"_default":"_x""#,
        #""1n":%,"en":%,"_default":"1n""#,
        #""en-abcdefgh-abcdefgh-abcdefgh-abcdef":%,"_default":"en""#, #""türk":%,"tr":%,"_default":"tr""#,
        #""tl":%,"fil":%,"cmn":%,"zh":%,"_default":"in""#, #""a/b":7,"en":%,"_default":"en""#,
    ].map { languages($0) }.filter { !$0.contains(#""_default":"}"#) }

    private static let options = [
        #""badge":0"#, #""badge":99999"#, #""badge":7.0"#, #""badge":-1"#, #""badge":100000"#, #""badge":1.5"#,
        #""badge":"2""#, #""badge":null"#, #""sound":"default""#, #""sound":\#(text(65))"#, #""sound":"""#,
        #""sound":"a/b""#, #""sound":"é""#, #""threadId":\#(text(64))"#, #""threadId":\#(text(65))"#, #""threadId":"""#,
        #""channelId":"a b""#, #""channelId":7"#, #""icon":7"#, #""interruptionLevel":"time-sensitive""#,
        #""interruptionLevel":"timeSensitive""#, #""interruptionLevel":1"#, #""relevanceScore":0"#,
        #""relevanceScore":1"#, #""relevanceScore":-0.1"#, #""relevanceScore":1.01"#, #""vibrate":true"#,
        #""sound":"a\n""#,
    ].map(presentation)

    private static let entries = [
        #""k":"""#, #""k":1"#, #""k":null"#, #""k":{}"#, #""":"x""#, #"" ":"x""#, #""FROM":1"#, #""fromage":"x""#,
        #""Message_Type":"x""#, #""collapse_key":"x""#, #""APS":"x""#, #""Googles.x":"x""#, #""GCMx":"x""#, #""_":"x""#,
        #""mygcm":"x""#, #""k":\#(text(1024))"#, #""k":\#(text(1025))"#, #"\#(text(64)):"x""#, #"\#(text(65)):"x""#,
        #""a/b~c":1"#, #""k":"{{a}}""#,
    ].map(data)

    private static let blocks = [
        "[]", "{}", #"{"ios":{}}"#, #"{"android":[]}"#, #"{"android":{"ttl":"5s","direct_boot_ok":true,"x":1}}"#,
        #"{"android":{"ttl":"5"}}"#, #"{"android":{"ttl":"2419200.5s"}}"#, #"{"android":{"ttl":"2419200s"}}"#,
        #"{"android":{"ttl":".5s"}}"#, #"{"android":{"ttl":"1.1234567890s"}}"#, #"{"android":{"ttl":5}}"#,
        #"{"android":{"collapse_key":"a","collapseKey":"b"}}"#, #"{"android":{"priority":"LOW"}}"#,
        #"{"android":{"data":{"from":"x","google.x":"y","gcm":"z","k":1}}}"#, #"{"android":{"data":[]}}"#,
        #"{"android":{"notification":{"title_loc_args":["a",1]}}}"#,
        #"{"android":{"notification":{"titleLocArgs":["a"],"titleLocKey":"k","bodyLocArgs":{}}}}"#,
        #"{"android":{"notification":{"eventTime":"2031-02-29T00:00:00Z","event_time":"2032-02-29t00:00:00.5+01:00"}}}"#,
        ##"{"android":{"notification":{"color":"#0b6e99","notificationCount":2147483648,"visibility":"SECRET"}}}"##,
        #"{"android":{"notification":{"color":"0b6e99","notificationCount":1.5,"visibility":"secret","sticky":1}}}"#,
        #"{"android":{"notification":{"lightSettings":{"color":{"red":0.5,"green":2},"lightOnDuration":"1s"}}}}"#,
        #"{"android":{"notification":{"vibrateTimings":["1s","x"],"body":1}}}"#,
        #"{"android":{"fcmOptions":{"analyticsLabel":"a b"}}}"#,
        #"{"android":{"fcm_options":{"analytics_label":"a"}}}"#,
        #"{"apns":{"headers":{"APNS-Topic":"x","apns-priority":"7","apns-Priority":"5","a b":"x","k":1}}}"#,
        #"{"apns":{"headers":{"apns-expiration":"12","apns-push-type":"alert","apns-collapse-id":"","x":"a\nb"}}}"#,
        #"{"apns":{"payload":{"aps":{"x":[1]}},"fcmOptions":{"image":"x"},"liveActivityToken":"t"}}"#,
        #"{"apns":{"payload":{"aps":5}}}"#, #"{"apns":{"payload":{"aps":null}}}"#,
        #"{"apns":{"payload":{"aps":{"alert":null}}}}"#, #"{"apns":{"payload":{"aps":{"alert":["x"]}}}}"#,
        #"{"apns":{"payload":{"aps":{"alert":"x"}}}}"#, #"{"apns":{"payload":{"aps":{"alert":{"title":"x"}},"x":5}}}"#,
        #"{"webpush":{"notification":{"aps":5}}}"#,
        #"{"apns":{"payload":[]}}"#, #"{"webpush":{"headers":{"TTL":"2419201","Urgency":"now","Topic":"a.b"}}}"#,
        #"{"webpush":{"headers":{"TTL":"60","Urgency":"low","Topic":"a_b"},"notification":{"x":1}}}"#,
        #"{"webpush":{"fcmOptions":{"link":"http://x"},"data":{"message_type":"x"}}}"#,
    ].map(overrides)
}
