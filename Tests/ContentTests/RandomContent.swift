import Domain
import Foundation

/// Repeats itself for the same seed (SplitMix64, Steele and others 2014).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &self) < share }
    mutating func pick<Element>(_ list: [Element]) -> Element { list[Int.random(in: 0..<list.count, using: &self)] }
}

/// How much a run of these tests does, and where it starts: small unless the environment says otherwise.
enum Effort {
    static let seed = number("PUSHFLEET_FUZZ_SEED") ?? 20_310_101

    static func iterations(_ usual: Int) -> Int { number("PUSHFLEET_FUZZ_ITERATIONS").map { Int($0) } ?? usual }

    static var subscribers: Int { number("PUSHFLEET_PROPERTY_SUBSCRIBERS").map { Int($0) } ?? 10_000 }

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }
}

/// Campaign files and subscribers that nobody would write, but anybody may.
struct RandomContent {
    var generator: SeededGenerator
    private static let names = ["firstName", "gate", "trip.ref", "_x", "link", "n-1"]
    private static let tags = ["en", "en-GB", "pt_BR", "zh-Hant-TW", "iw", "sr-Latn", "x", "de-DE-1996", "tr"]
    private static let scraps = [
        "a", "Ö", "⛴️", "👨‍👩‍👧‍👦", "e\u{301}", "\"", "\\", "\n", "\u{1}", "漢字", "{", "}", "|", " ", "\u{200B}", "/", "%",
        "\u{2028}",
        "{{", "}}", "{{a}}",
    ]

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    // MARK: - Texts

    mutating func text(upTo length: Int) -> String {
        let count = Int.random(in: 0...length, using: &generator)
        return (0..<count).map { _ in generator.pick(Self.scraps) }.joined()
    }

    /// Without what a template or JSON string would take for more than text.
    private mutating func plain(upTo length: Int) -> String {
        var text = text(upTo: length)
        for brace in ["{", "}", "\u{1}"] { text = text.replacingOccurrences(of: brace, with: "") }
        return text
    }

    mutating func template(upTo length: Int, valid: Bool) -> String {
        var text = valid ? "x" + plain(upTo: length) : self.text(upTo: length)
        while generator.chance(0.5) {
            text += "{{\(generator.pick(Self.names))"
            if generator.chance(0.6) { text += "|" + plain(upTo: 20).replacingOccurrences(of: "|", with: "") }
            text += "}}" + (valid ? plain(upTo: 10) : self.text(upTo: 10))
        }
        return text
    }

    // MARK: - Files

    mutating func campaign(valid: Bool) -> [UInt8] {
        var file: [String: JSONValue] = [
            "app": .string("ferry"), "name": .string("Random"), "audience": .object(["all": .bool(true)]),
            "message": message(valid: valid), "delivery": delivery(),
        ]
        if !valid, generator.chance(0.1) { file[plain(upTo: 3)] = value(depth: 0) }
        var bytes = Array(JSONValue.object(file).text.utf8)
        if !valid, generator.chance(0.3) { damage(&bytes) }
        return bytes
    }

    private mutating func damage(_ bytes: inout [UInt8]) {
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.remove(at: place)
            default: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            }
        }
    }

    private mutating func message(valid: Bool) -> JSONValue {
        var message: [String: JSONValue] = [:]
        if generator.chance(0.15) {
            message["silent"] = .bool(true)
        } else {
            message["content"] = content(valid: valid)
        }
        if generator.chance(0.6) { message["presentation"] = presentation(valid: valid) }
        if generator.chance(0.6) { message["data"] = data(valid: valid) }
        if generator.chance(0.5) { message["overrides"] = overrides() }
        if !valid, generator.chance(0.1) { message["silent"] = value(depth: 0) }
        return .object(message)
    }

    private mutating func content(valid: Bool) -> JSONValue {
        var content: [String: JSONValue] = [:]
        let tags = valid ? Self.tags.filter { $0 != "x" } : Self.tags
        for _ in 0...Int.random(in: 0...3, using: &generator) { content[generator.pick(tags)] = variant(valid: valid) }
        content["_default"] = .string(valid ? content.keys.sorted()[0] : generator.pick(tags))
        if valid { content["_default"] = .string(content.keys.filter { $0 != "_default" }.sorted()[0]) }
        return .object(content)
    }

    private mutating func variant(valid: Bool) -> JSONValue {
        var variant: [String: JSONValue] = [
            "title": .string(template(upTo: 40, valid: valid)), "body": .string(template(upTo: 300, valid: valid)),
        ]
        if generator.chance(0.4) { variant["url"] = .string(link(valid: valid)) }
        if generator.chance(0.3) { variant["image"] = .string("https://img.example/" + (valid ? "a" : text(upTo: 3))) }
        if generator.chance(0.3) {
            variant["actions"] = .array(
                (0..<Int.random(in: 0...(valid ? 3 : 4), using: &generator)).map { index in
                    .object([
                        "id": .string("a\(index)"), "title": .string("x" + plain(upTo: 20)),
                        "url": .string(link(valid: valid)),
                    ])
                })
        }
        if !valid, generator.chance(0.2) { variant["title"] = value(depth: 0) }
        return .object(variant)
    }

    private mutating func link(valid: Bool) -> String {
        let links = [
            "https://ferry.example/{{trip.ref|list}}", "ferry://trip/{{gate}}?q={{firstName|é}}", "{{link|ferry://a}}",
            "https://ferry.example/", "{{link|https://ferry.example/}}",
        ]
        return valid ? generator.pick(links) : generator.pick(links) + text(upTo: 3)
    }

    private mutating func presentation(valid: Bool) -> JSONValue {
        var members: [String: JSONValue] = [
            "sound": .string(generator.pick(["default", "none", "horn.caf"])),
            "badge": .integer(Int.random(in: 0...99_999, using: &generator)),
            "threadId": .string("t" + plain(upTo: 20)), "icon": .string("https://img.example/i.png"),
            "interruptionLevel": .string(generator.pick(["passive", "active", "time-sensitive", "critical"])),
            "relevanceScore": .double(Double.random(in: 0...1, using: &generator)),
            "channelId": .string("boarding"),
        ]
        for key in members.keys.sorted() where generator.chance(0.5) { members[key] = nil }
        if !valid, generator.chance(0.3) { members["sound"] = value(depth: 0) }
        return .object(members)
    }

    private mutating func data(valid: Bool) -> JSONValue {
        var data: [String: JSONValue] = [:]
        for index in 0..<Int.random(in: 0...6, using: &generator) {
            data["k\(index)" + plain(upTo: 5)] = .string(text(upTo: 200).replacingOccurrences(of: "\0", with: ""))
        }
        if !valid, generator.chance(0.3) { data[generator.pick(["from", "gcm.a", "", "aps", "n"])] = value(depth: 0) }
        return .object(data)
    }

    private mutating func overrides() -> JSONValue {
        var android: [String: JSONValue] = ["ttl": .string("3.5s"), "priority": .string("high")]
        if generator.chance(0.5) { android["data"] = data(valid: true) }
        if generator.chance(0.5) {
            android["notification"] = .object(["icon": .string("ic"), "ticker": .string(text(upTo: 60))])
        }
        var apns: [String: JSONValue] = ["payload": .object(["own": .string(text(upTo: 400))])]
        if generator.chance(0.5) { apns["headers"] = .object(["apns-priority": .string("10")]) }
        let web = JSONValue.object(["notification": .object(["lang": .string("en")])])
        var blocks: [String: JSONValue] = ["android": .object(android), "apns": .object(apns), "webpush": web]
        for key in blocks.keys.sorted() where generator.chance(0.5) { blocks[key] = nil }
        return .object(blocks)
    }

    private mutating func delivery() -> JSONValue {
        var delivery: [String: JSONValue] = [
            "ttlSeconds": .integer(Int.random(in: 0...2_419_200, using: &generator)), "collapseKey": .string("trip 88"),
            "analyticsLabel": .string("winter"), "fcmMode": .string(generator.pick(["data", "notification"])),
        ]
        for key in delivery.keys.sorted() where generator.chance(0.3) { delivery[key] = nil }
        return .object(delivery)
    }

    private mutating func value(depth: Int) -> JSONValue {
        switch Int.random(in: 0...(depth > 2 ? 4 : 6), using: &generator) {
        case 0: return .null
        case 1: return .bool(generator.chance(0.5))
        case 2: return .integer(Int.random(in: -10...10, using: &generator))
        case 3: return .double(Double.random(in: -1e9...1e9, using: &generator))
        case 4: return .string(text(upTo: 8))
        case 5: return .array((0..<2).map { _ in value(depth: depth + 1) })
        default: return .object(["content": value(depth: depth + 1), text(upTo: 2): value(depth: depth + 1)])
        }
    }

    // MARK: - Subscribers

    /// - Parameter number: of the subscriber.
    mutating func recipient(number: Int) -> PreviewRecipient {
        var attributes: [String: String] = [:]
        for name in Self.names where generator.chance(0.5) {
            attributes[name] = text(upTo: generator.chance(0.02) ? 1500 : 12)
        }
        if generator.chance(0.5) { attributes["link"] = "https://ferry.example/" + String(number) }
        return PreviewRecipient(
            identity: JobIdentity(run: .init(Int64.random(in: 0...(.max), using: &generator)), number: Int64(number)),
            address: Address(text: "token-\(number)"),
            language: generator.chance(0.1) ? nil : generator.pick(Self.tags + ["", "??", "en_US.UTF-8"]),
            attributes: attributes, remainingSeconds: Int64.random(in: 0...2_419_200, using: &generator),
            now: 1_900_000_000)
    }
}
