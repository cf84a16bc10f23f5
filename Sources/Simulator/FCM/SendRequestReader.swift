/// Reads a send request against the schema, in one pass.
struct SendRequestReader {
    private(set) var scanner: JSONScanner
    private(set) var request = SendRequest()
    let schema: Schema

    /// - Throws: `Violation` for whatever FCM would answer 400 `INVALID_ARGUMENT` to, save what depends on the token.
    init(_ body: [UInt8], schema: Schema = .fcm) throws(Violation) {
        scanner = JSONScanner(body)
        self.schema = schema
        do {
            try object(.sendMessageRequest)
            try scanner.finish()
            try checkWhole()
        } catch {
            throw Violation(error)
        }
    }

    // MARK: Messages

    private mutating func object(_ shape: Shape.Name) throws {
        guard scanner.peek() == UInt8(ascii: "{") else { throw try wrong("object expected") }
        var seen: UInt64 = 0
        if try scanner.enterObject() {
            repeat {
                let key = try scanner.key()
                guard let index = schema.rule(for: key, in: shape, scanner) else {
                    throw Violation.unknownName(String(decoding: scanner.decoded(key), as: UTF8.self))
                }
                let rule = schema.rules[index]
                if seen & rule.bit != 0 { throw Violation.repeatedName(schema.names[index]) }
                if scanner.peek() == UInt8(ascii: "n") {  // null is as good as absent (proto3 JSON mapping)
                    _ = try scanner.literal()
                } else {
                    seen |= rule.bit
                    do { try value(rule) } catch { throw Violation(error).inside(schema.names[index]) }
                }
            } while try scanner.anotherMember()
        }
        try check(schema.shapes[Int(shape.rawValue)], seen, shape)
    }

    private mutating func value(_ rule: FieldRule) throws {
        let before = scanner.compactLength
        switch rule.kind {
        case .string(let check):
            let text = try string()
            try TextRules.check(text, check, scanner)
            note(text, rule.role)
        case .message(let shape): try object(shape)
        case .textMap(let check): try textMap(check, rule.role)
        case .choice(let choice):
            let text = try string()
            guard schema.values(of: choice).contains(where: { scanner.equals(text, $0) }) else {
                throw Violation.badValue("Not a value of this enumeration.")
            }
        case .bool: try bool(rule.role)
        case .strings(let check): try strings(check)
        case .int32: try int32()
        case .fraction: try fraction()
        case .anyMap: try anyMap(rule.role)
        }
        note(scanner.compactLength - before, rule.role)
    }

    private func check(_ shape: Shape, _ seen: UInt64, _ name: Shape.Name) throws {
        guard seen & shape.required == shape.required else {
            if name == .sendMessageRequest { throw Violation.noTarget }
            throw Violation.badValue("A required field is missing.")
        }
        for group in shape.exclusive where (seen & group).nonzeroBitCount > 1 {
            throw Violation.badValue("Only one of several fields may be set.")
        }
        for (first, second) in shape.dependent where seen & first != 0 && seen & second == 0 {
            throw Violation.badValue("Arguments without the key that they belong to.")
        }
    }

    // MARK: Maps

    private mutating func textMap(_ check: FieldRule.MapCheck, _ role: FieldRule.Role) throws {
        guard scanner.peek() == UInt8(ascii: "{") else { throw try wrong("map expected") }
        var index = 0
        try members { reader, key in
            guard reader.scanner.peek() == UInt8(ascii: "\"") else {
                throw try reader.wrong("TYPE_STRING").inside("value").inside("[\(index)]")
            }
            try reader.mapEntry(key, reader.scanner.string(), check, role)
            index += 1
        }
    }

    private mutating func mapEntry(
        _ key: JSONText, _ text: JSONText, _ check: FieldRule.MapCheck, _ role: FieldRule.Role
    ) throws {
        switch check {
        case .data:
            try MapRules.checkDataKey(key, scanner)
            if role == .data || role == .androidData { noteData(key, text, role) }
        case .appleHeaders:
            let priority = try MapRules.checkAppleHeader(key, text, scanner)
            if let priority { request.parts.insert(priority == 5 ? .applePriority5 : .applePriorityOther) }
        case .webHeaders: try MapRules.checkWebHeader(key, text, scanner)
        }
    }

    /// Names to any JSON. Of an Apple payload, `aps` and `aps.alert` are looked for.
    private mutating func anyMap(_ role: FieldRule.Role) throws {
        guard scanner.peek() == UInt8(ascii: "{") else { throw try wrong("map expected") }
        try members { reader, key in
            guard role == .applePayload, reader.scanner.equals(key, Self.aps) else {
                return try reader.scanner.skipValue()
            }
            guard reader.scanner.peek() == UInt8(ascii: "{") else {
                throw Violation.badValue("Not an object.", at: "aps")
            }
            try reader.members { reader, inner in
                if reader.scanner.equals(inner, Self.alert) { reader.request.parts.insert(.appleAlert) }
                try reader.scanner.skipValue()
            }
        }
    }

    /// Reads an object, each of whose values `value` reads.
    private mutating func members(_ value: (inout SendRequestReader, JSONText) throws -> Void) throws {
        guard try scanner.enterObject() else { return }
        var keys = JSONKeySet()
        repeat {
            let key = try scanner.key()
            try keys.insert(key, of: scanner)
            try value(&self, key)
        } while try scanner.anotherMember()
    }

    private static let aps = Array("aps".utf8)
    private static let alert = Array("alert".utf8)
}

// MARK: - Single values

extension SendRequestReader {
    private mutating func string() throws -> JSONText {
        guard scanner.peek() == UInt8(ascii: "\"") else { throw try wrong("TYPE_STRING") }
        return try scanner.string()
    }

    private mutating func bool(_ role: FieldRule.Role) throws {
        let first = scanner.peek()
        guard first == UInt8(ascii: "t") || first == UInt8(ascii: "f") else { throw try wrong("TYPE_BOOL") }
        let literal = try scanner.literal()
        if role == .validateOnly, literal == .true { request.parts.insert(.validateOnly) }
    }

    private mutating func strings(_ check: FieldRule.TextCheck) throws {
        guard scanner.peek() == UInt8(ascii: "[") else { throw try wrong("array expected") }
        guard try scanner.enterArray() else { return }
        var index = 0
        repeat {
            do {
                let text = try string()
                try TextRules.check(text, check, scanner)
            } catch { throw Violation(error).inside("[\(index)]") }
            index += 1
        } while try scanner.anotherElement()
    }

    /// A number without a fraction, or one in a string (proto3 JSON mapping).
    private mutating func int32() throws {
        guard let value = try numberText(quoted: true), let number = Double(value), number == number.rounded(),
            (Double(Int32.min)...Double(Int32.max)).contains(number)
        else { throw Violation.wrongType("TYPE_INT32") }
    }

    private mutating func fraction() throws {
        guard let value = try numberText(quoted: false), let number = Double(value) else {
            throw Violation.wrongType("TYPE_FLOAT")
        }
        guard (0...1).contains(number) else { throw Violation.badValue("Out of range 0 to 1.") }
    }

    private mutating func numberText(quoted: Bool) throws -> String? {
        let first = scanner.peek()
        if quoted, first == UInt8(ascii: "\"") {
            let inner = try string()
            var digits = JSONScanner(scanner.decoded(inner))
            guard let range = try? digits.number(), range == digits.bytes.indices else { return nil }
            return String(decoding: digits.bytes, as: UTF8.self)
        }
        guard first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            throw try wrong("number expected")
        }
        let range = try scanner.number()
        return String(decoding: scanner.bytes[range], as: UTF8.self)
    }

    /// The violation for a value of another type than `type`; text that is no value at all is a fault of the JSON.
    private mutating func wrong(_ type: String) throws -> Violation {
        try scanner.skipValue()
        return .wrongType(type)
    }
}

// MARK: - What is noticed

extension SendRequestReader {
    private static let silent = Array("silent".utf8)
    private static let one = Array("1".utf8)
    private static let title = Array("title".utf8)
    private static let bodyName = Array("body".utf8)
    private static let idNames = [Array("id".utf8), Array("_id".utf8)]

    private mutating func note(_ text: JSONText, _ role: FieldRule.Role) {
        let target: SendRequest.Target
        switch role {
        case .token, .fid: target = .device(text)
        case .topic: target = .group(text, isTopic: true)
        case .condition: target = .group(text, isTopic: false)
        case .tag:
            request.tag = text
            return
        default: return
        }
        if request.target != nil { request.parts.insert(.secondTarget) }  // a fault of the message, not of this field
        request.target = target
    }

    private mutating func note(_ size: Int, _ role: FieldRule.Role) {
        switch role {
        case .data:
            request.sizes.data = size
            request.parts.insert(.data)
        case .androidData: request.sizes.androidData = size
        case .notification:
            request.sizes.notification = size
            request.parts.insert(.notification)
        case .androidNotification:
            request.sizes.androidNotification = size
            request.parts.insert(.notification)
        case .applePayload: request.sizes.applePayload = size
        default: break
        }
    }

    private mutating func noteData(_ key: JSONText, _ value: JSONText, _ role: FieldRule.Role) {
        switch key.end - key.start {
        case 2, 3:
            let isFirst = request.id == nil || role == .androidData
            if isFirst, Self.idNames.contains(where: { scanner.equals(key, $0) }) { request.id = value }
        case 4: if scanner.equals(key, Self.bodyName) { request.parts.insert(.text) }
        case 5: if scanner.equals(key, Self.title) { request.parts.insert(.text) }
        case 6:
            if scanner.equals(key, Self.silent), scanner.equals(value, Self.one) { request.parts.insert(.silent) }
        default: break
        }
    }

    /// Bytes that a message may have: half as many for a topic (fcm.md §5).
    private static let deviceLimit = 4096
    private static let topicLimit = 2048

    private func checkWhole() throws {
        guard let target = request.target else { throw Violation.noTarget.inside("message") }
        if request.parts.contains(.secondTarget) { throw Violation.secondTarget.inside("message") }
        var limit = Self.deviceLimit
        if case .group(_, isTopic: true) = target { limit = Self.topicLimit }
        guard request.sizes.payload <= limit, request.sizes.applePayload <= Self.deviceLimit else {
            throw Violation.tooBig
        }
        // Said outright, it is refused whatever the target; left to the default, only an Apple device's message is.
        if isDataOnly, request.parts.contains(.applePriorityOther) { throw Violation.appleDataPriority }
    }

    /// Data, and nothing that an Apple device would show.
    var isDataOnly: Bool {
        request.parts.contains(.data) && request.parts.isDisjoint(with: [.notification, .appleAlert])
    }
}
