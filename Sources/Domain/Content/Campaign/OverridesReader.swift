/// Checks `overrides` against the FCM v1 message, in snake or camel case.
struct OverridesReader {
    var problems: ProblemList

    /// They would break the job's identity, its accounting or its encryption.
    private static let refusedHeaders = ["apns-id", "apns-topic", "authorization", "content-encoding"]

    init(_ problems: ProblemList) { self.problems = problems }

    mutating func overrides(_ message: JSONMembers) -> Overrides {
        let known = ["android", "apns", "webpush"]
        guard let blocks = problems.object("overrides", of: message, known: known) else { return .none }
        for key in blocks.keys {
            guard let value = blocks[key], case .message(let schema)? = OverrideSchema.overrides.fields[key] else {
                continue
            }
            check(value, against: schema, at: blocks.pointer / key)
        }
        return Overrides(android: blocks["android"], apns: blocks["apns"], webpush: blocks["webpush"])
    }

    private mutating func check(_ value: JSONValue, against schema: OverrideSchema, at pointer: JSONPointer) {
        guard let members = problems.object(value, at: pointer, known: nil) else { return }
        var seen: Set<String> = []
        for key in members.keys {
            guard let name = schema.camelName(of: key), let kind = schema.fields[name], let member = members[key] else {
                problems.add(
                    .unknownField, at: pointer / key, "The provider's message has no such field here.",
                    remedy: "Remove it or correct its spelling.")
                continue
            }
            if !seen.insert(name).inserted {
                invalid(pointer / key, "The field stands here in both spellings.", remedy: "Keep one of the two.")
            }
            check(member, kind, at: pointer / key)
        }
        for name in schema.required where !seen.contains(name) {
            invalid(pointer / name, "The field is missing.", remedy: "The provider requires it here.")
        }
        for (arguments, key) in schema.pairs where seen.contains(arguments) && !seen.contains(key) {
            invalid(pointer / key, "The field is missing.", remedy: "\(arguments) needs it.")
        }
    }

    private mutating func check(_ value: JSONValue, _ kind: OverrideSchema.Kind, at pointer: JSONPointer) {
        switch (kind, value) {
        case (.message(let schema), _): check(value, against: schema, at: pointer)
        case (.bool, .bool), (.string, .string), (.free, .object): break
        case (.int32, .integer(let number)) where Int32(exactly: number) != nil: break
        case (.fraction, .integer(0...1)): break
        case (.fraction, .double(let number)) where 0...1 ~= number: break
        case (.word(let words), .string(let text)) where words.contains(text): break
        case (.instant, .string(let text)) where Instant(rfc3339: text) != nil: break
        case (.duration(let most), .string(let text)) where Self.isDuration(text, atMost: most): break
        case (.color, .string(let text)) where Self.isColor(text): break
        case (.label, .string(let text)) where ProviderLabel.isValid(text, atMost: 50): break
        case (.httpsLink, .string(let text)) where URLRules.isValidImage(text): break
        case (.list(let kind), .array(let elements)):
            for (index, element) in elements.enumerated() { check(element, kind, at: pointer / index) }
        case (.applePayload, .object(let members)): checkAps(members["aps"], at: pointer / "aps")
        case (.data, .object(let members)): checkTexts(members, at: pointer, refused: Self.isReserved)
        case (.headers, .object(let members)):
            checkTexts(members, at: pointer) { Self.refusedHeaders.contains($0.lowercased()) }
            checkHeaders(members, at: pointer)
        default:
            invalid(pointer, "The value is not what the provider takes here.", remedy: "Give \(Self.expected(kind)).")
        }
    }

    private mutating func checkTexts(
        _ members: [String: JSONValue], at pointer: JSONPointer, refused: (String) -> Bool
    ) {
        for (key, member) in members {
            if refused(key) {
                invalid(pointer / key, "This name is set by the server or kept by the provider.", remedy: "Remove it.")
            }
            if case .string = member { continue }
            invalid(pointer / key, "The value is \(member.kind).", remedy: "Write it as a text, in quotes.")
        }
    }

    /// The rest of the payload is the app's own; of `aps` Apple says what it can be.
    private mutating func checkAps(_ aps: JSONValue?, at pointer: JSONPointer) {
        guard let aps else { return }
        guard case .object(let members) = aps else {
            return invalid(pointer, "The value is not what the provider takes here.", remedy: "Give an object.")
        }
        switch members["alert"] {
        case nil, .string, .object: break
        default:
            let expected = "Give a text or an object."
            invalid(pointer / "alert", "The value is not what the provider takes here.", remedy: expected)
        }
    }

    /// The values of headers that the push services know; others are theirs to judge.
    private mutating func checkHeaders(_ members: [String: JSONValue], at pointer: JSONPointer) {
        var seen: Set<String> = []
        for key in members.keys.sorted() {
            if !seen.insert(key.lowercased()).inserted {
                invalid(pointer / key, "The header stands here twice.", remedy: "Keep one of them.")
            }
            guard case .string(let text)? = members[key] else { continue }
            if !ProviderHeader.isName(key) || !ProviderHeader.isText(text) {
                invalid(pointer / key, "This cannot be an HTTP field.", remedy: "Use plain text in one line.")
            } else if let expected = ProviderHeader.fault(key.lowercased(), text) {
                invalid(pointer / key, "The push service would refuse this value.", remedy: "Give \(expected).")
            }
        }
    }

    private mutating func invalid(_ pointer: JSONPointer, _ message: String, remedy: String) {
        problems.add(.overrideInvalid, at: pointer, message, remedy: remedy)
    }

    /// FCM's own minimum, since this block goes out as it is.
    private static func isReserved(_ key: String) -> Bool {
        ["from", "message_type"].contains(key)
            || ["google.", "gcm.notification."].contains { key.utf8.starts(with: $0.utf8) }
    }

    /// `3.5s`, with at most nine digits of fraction.
    private static func isDuration(_ text: String, atMost most: Double) -> Bool {
        let parts = text.utf8.dropLast().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isDigits = parts.allSatisfy { part in
            !part.isEmpty && part.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        }
        guard text.utf8.last == UInt8(ascii: "s"), isDigits, 1...2 ~= parts.count, parts.last?.count ?? 0 <= 12,
            parts.count == 1 || parts[1].count <= 9, let seconds = Double(text.dropLast())
        else { return false }
        return seconds <= most
    }

    private static func isColor(_ text: String) -> Bool {
        text.utf8.count == 7 && text.utf8.first == UInt8(ascii: "#") && UInt32(text.dropFirst(), radix: 16) != nil
            && text.utf8.dropFirst().first != UInt8(ascii: "+")
    }

    private static func expected(_ kind: OverrideSchema.Kind) -> String {
        switch kind {
        case .string: "a text"
        case .bool: "true or false"
        case .int32: "a whole number of 32 bits"
        case .fraction: "a number from 0 to 1"
        case .duration(let most): "seconds such as \"3.5s\", at most \(Int(most))"
        case .instant: "an instant such as \"2031-03-01T06:30:00Z\""
        case .word(let words): "one of \(words.joined(separator: ", "))"
        case .color: "a colour such as \"#0b6e99\""
        case .label: "1 to 50 letters, digits, -, _, ., ~ and %"
        case .httpsLink: "an absolute https address"
        case .list: "an array"
        case .data, .headers, .free, .applePayload, .message: "an object"
        }
    }
}
