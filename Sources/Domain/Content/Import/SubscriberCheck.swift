import FoundationEssentials

/// Holds one line of an import to the rules of its transport, naming every column that breaks one.
package struct SubscriberCheck: Sendable {
    private let endpoints: EndpointPolicy
    private let isPoint: @Sendable ([UInt8]) -> Bool

    /// - Parameter isPoint: whether 65 bytes are an uncompressed point on P-256; cryptography is not this module's.
    package init(endpoints: EndpointPolicy = EndpointPolicy(), isPoint: @escaping @Sendable ([UInt8]) -> Bool) {
        self.endpoints = endpoints
        self.isPoint = isPoint
    }

    func callAsFunction(_ record: ImportRecord) -> Result<ImportedSubscriber, RefusedLine> {
        var line = LineCheck(record)
        let externalID = line.label(.externalID, isRequired: true) ?? ""
        let userID = line.label(.userID)
        let transport = TransportKind(name: record[.transport])
        if transport == nil {
            line.refuse(.transport, "The transport is none of apns, fcm and webpush.")
            if record[.address].isEmpty { line.refuse(.address, "The address is empty.") }
        }
        let address = transport.flatMap { self.address(of: $0, &line) }
        let keys = transport == .webpush ? webPushKeys(&line) : nil
        let environment = environment(transport, &line)
        let vapidKey = vapidKey(transport, &line)
        let result = ImportedSubscriber(
            line: record.line, externalID: externalID, userID: userID, transport: transport ?? .fcm,
            address: address ?? "", environment: environment, p256dh: keys?.p256dh, auth: keys?.auth,
            vapidKey: vapidKey, language: line.label(.language), timeZone: line.label(.timeZone),
            attributes: attributes(&line),
            tags: tags(&line), registeredAt: registeredAt(&line))
        return line.reasons.isEmpty
            ? .success(result) : .failure(RefusedLine(line: record.line, reasons: line.reasons))
    }

    // MARK: - Address

    private func address(of transport: TransportKind, _ line: inout LineCheck) -> String? {
        let address = line.record[.address]
        guard !address.isEmpty else {
            line.refuse(.address, "The address is empty.")
            return nil
        }
        if transport != .webpush {
            for column in [ImportColumn.p256dh, .auth] where !line.record[column].isEmpty {
                line.refuse(column, "Only Web Push has keys.")
            }
        }
        switch transport {
        case .apns: return deviceToken(address, &line)
        case .fcm:
            if ProviderTarget.isMeant(by: address) {
                line.refuse(.address, "The address is a topic's: it would reach everybody on it.")
                return nil
            }
            if address.utf8.count <= 4096, address.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) { return address }
            line.refuse(.address, "The registration token is too long, or holds white space or no ASCII.")
            return nil
        case .webpush:
            guard let fault = endpoints.fault(in: address) else { return address }
            line.refuse(.address, fault)
            return nil
        }
    }

    /// Hex, an even number of digits, 32 to 512; kept in lower case.
    private func deviceToken(_ address: String, _ line: inout LineCheck) -> String? {
        var isUpper = false
        let isHex = address.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): return true
            case UInt8(ascii: "A")...UInt8(ascii: "F"):
                isUpper = true
                return true
            default: return false
            }
        }
        guard isHex, 32...512 ~= address.utf8.count, address.utf8.count.isMultiple(of: 2) else {
            line.refuse(.address, "The device token is not an even number of 32 to 512 hexadecimal digits.")
            return nil
        }
        return isUpper ? address.lowercased() : address
    }

    /// Apple's only; production where none is named.
    private func environment(
        _ transport: TransportKind?, _ line: inout LineCheck
    ) -> ImportedSubscriber.Environment? {
        let text = line.record[.environment]
        guard transport == .apns else {
            if transport != nil, !text.isEmpty { line.refuse(.environment, "Only Apple has environments.") }
            return nil
        }
        if text.isEmpty { return .production }
        let environment = ImportedSubscriber.Environment(rawValue: text)
        if environment == nil { line.refuse(.environment, "The environment is neither production nor sandbox.") }
        return environment
    }

    private func webPushKeys(_ line: inout LineCheck) -> (p256dh: [UInt8], auth: [UInt8]) {
        let point = Self.base64URL(line.record[.p256dh])
        if point?.count != 65 || point?.first != 0x04 {
            line.refuse(.p256dh, "The key is not 65 bytes of an uncompressed point in base64url.")
        } else if let point, !isPoint(point) {
            line.refuse(.p256dh, "The key is no point on P-256.")
        }
        let auth = Self.base64URL(line.record[.auth])
        if auth?.count != 16 { line.refuse(.auth, "The secret is not 16 bytes in base64url.") }
        return (point ?? [], auth ?? [])
    }

    /// The key that the browser was given as `applicationServerKey`.
    private func vapidKey(_ transport: TransportKind?, _ line: inout LineCheck) -> String? {
        let text = line.record[.vapidKey]
        if text.isEmpty { return nil }
        guard transport == .webpush, let point = Self.base64URL(text), point.count == 65, point.first == 0x04,
            isPoint(point)
        else {
            line.refuse(
                .vapidKey, "The value is not 65 bytes of an uncompressed point in base64url, or not Web Push's.")
            return nil
        }
        return Data(point).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// With or without padding, in either alphabet, as browsers' libraries write it.
    private static func base64URL(_ text: String) -> [UInt8]? {
        var bytes = text.utf8.map { byte in
            byte == UInt8(ascii: "-") ? UInt8(ascii: "+") : byte == UInt8(ascii: "_") ? UInt8(ascii: "/") : byte
        }
        while bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
        bytes += [UInt8](repeating: UInt8(ascii: "="), count: (4 - bytes.count % 4) % 4)
        return Data(base64Encoded: Data(bytes)).map { Array($0) }
    }

    // MARK: - What comes with it

    private func attributes(_ line: inout LineCheck) -> String {
        let text = line.record[.attributes]
        guard !text.isEmpty else { return "{}" }
        guard text.utf8.count <= 16_384 else {
            line.refuse(.attributes, "The attributes have more than 16,384 bytes.")
            return ""
        }
        guard let outline = try? JSONSyntax.outline(of: text) else {
            line.refuse(.attributes, "The attributes are no JSON.")
            return ""
        }
        if outline.members == nil { line.refuse(.attributes, "The attributes are no JSON object.") }
        if outline.holdsNull || text.utf8.contains(0) {
            line.refuse(.attributes, "A text in the attributes holds the character U+0000.")
        }
        return text
    }

    private func tags(_ line: inout LineCheck) -> [String] {
        guard line.record.tags.count <= 1000 else {
            line.refuse(.tags, "There are more than 1000 tags.")
            return []
        }
        var tags: [String] = []
        for tag in line.record.tags where !WhiteSpace.isBlank(tag) && !tags.contains(tag) {
            if tag.utf8.count > 255 || tag.utf8.contains(0) {
                line.refuse(.tags, "A tag is longer than 255 bytes or holds the character U+0000.")
            }
            tags.append(tag)
        }
        return tags
    }

    private func registeredAt(_ line: inout LineCheck) -> Instant? {
        let text = line.record[.registeredAt]
        guard !text.isEmpty else { return nil }
        let instant = Instant(rfc3339: text)
        if instant == nil { line.refuse(.registeredAt, "This is no instant such as 2031-03-01T06:30:00Z.") }
        return instant
    }
}

/// Collects why a line is refused.
private struct LineCheck {
    let record: ImportRecord
    private(set) var reasons: [RefusedLine.Reason] = []

    init(_ record: ImportRecord) { self.record = record }

    mutating func refuse(_ column: ImportColumn, _ message: String) {
        reasons.append(RefusedLine.Reason(column: column, message: message))
    }

    /// A short text that is kept as it is; nil = empty.
    mutating func label(_ column: ImportColumn, isRequired: Bool = false) -> String? {
        let text = record[column]
        if isRequired ? WhiteSpace.isBlank(text) : text.isEmpty {
            if isRequired { refuse(column, "The value is empty.") }
            return nil
        }
        if text.utf8.count > 255 || text.utf8.contains(0) {
            refuse(column, "The value is longer than 255 bytes or holds the character U+0000.")
        }
        return text
    }
}
