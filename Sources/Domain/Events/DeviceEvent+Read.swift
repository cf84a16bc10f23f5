import FoundationEssentials

/// The body of a call that tells events: `{"events": [{"id", "notification", "kind", "at"}]}`.
package struct EventBatch: Sendable {
    package static let mostEvents = 500

    package enum Item: Sendable, Equatable {
        case event(DeviceEvent)
        case refused([Problem])
    }

    /// In the order of the body.
    package let items: [Item]

    /// - Throws: `ContentProblems` when the body as a whole is not one; a faulty event stands in `items` instead.
    package init(_ body: [UInt8]) throws {
        if let fault = JSONSyntax.fault(in: body) {
            throw ContentProblems([
                Problem(
                    pointer: "", code: "json_invalid",
                    message: "Line \(fault.line), column \(fault.column): \(fault.message)", remedy: "Correct the JSON."
                )
            ])
        }
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(body))
        guard case .object(let members) = value, case .array(let events)? = members["events"] else {
            throw ContentProblems([
                Problem(
                    pointer: "/events", code: "type_invalid", message: "There is no array of events.",
                    remedy: "Send {\"events\": [...]}.")
            ])
        }
        if let unknown = members.keys.filter({ $0 != "events" }).min() {
            throw ContentProblems([.unknownField((JSONPointer.root / unknown).description)])
        }
        guard 1...Self.mostEvents ~= events.count else {
            throw ContentProblems([
                Problem(
                    pointer: "/events", code: "events_invalid", message: "There are \(events.count) events.",
                    remedy: "Send 1 to \(Self.mostEvents) at once.")
            ])
        }
        items = events.enumerated().map { index, event in
            var reader = EventReader(pointer: JSONPointer.root / "events" / index)
            return reader.read(event)
        }
    }
}

/// Reads one event, naming everything that is wrong with it.
private struct EventReader {
    let pointer: JSONPointer
    private var problems: [Problem] = []

    init(pointer: JSONPointer) { self.pointer = pointer }

    mutating func read(_ value: JSONValue) -> EventBatch.Item {
        guard case .object(let members) = value else {
            return .refused([
                Problem(
                    pointer: pointer.description, code: "type_invalid", message: "The event is \(value.kind).",
                    remedy: "Send an object.")
            ])
        }
        for name in members.keys.sorted() where !["id", "notification", "kind", "at"].contains(name) {
            problems.append(.unknownField((pointer / name).description))
        }
        let id = text("id", members, remedy: "Send a UUID.").flatMap { uuid($0) }
        let notification = text("notification", members, remedy: "Send the notification's id, such as 12-345.")
            .flatMap { self.notification($0) }
        let kind = text("kind", members, remedy: Self.kinds).flatMap { self.kind($0) }
        let at = members["at"].flatMap { self.instant($0) }
        guard problems.isEmpty, let id, let notification, let kind else { return .refused(problems) }
        return .event(
            DeviceEvent(id: id, run: notification.run, number: notification.number, kind: kind, at: at))
    }

    private static let kinds = "Use one of " + DeviceEvent.Kind.allCases.map(\.name).joined(separator: ", ") + "."

    private mutating func refuse(_ member: String, _ message: String, remedy: String, code: String = "event_invalid") {
        problems.append(
            Problem(pointer: (pointer / member).description, code: code, message: message, remedy: remedy))
    }

    private mutating func text(_ name: String, _ members: [String: JSONValue], remedy: String) -> String? {
        if case .string(let text)? = members[name] { return text }
        refuse(
            name, members[name].map { "The value is \($0.kind)." } ?? "The member is missing.", remedy: remedy,
            code: "type_invalid")
        return nil
    }

    private mutating func uuid(_ text: String) -> String? {
        if text.wholeMatch(of: /[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}/) != nil { return text.lowercased() }
        refuse("id", "The value is no UUID.", remedy: "Send a UUID of 36 characters.")
        return nil
    }

    private mutating func notification(_ text: String) -> (run: Run.ID, number: Int64)? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        if text.utf8.count <= 40, parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }),
            let run = Int64(parts[0]), let number = Int64(parts[1])
        {
            return (Run.ID(run), number)
        }
        refuse(
            "notification", "The value is no notification's id.",
            remedy: "Send the id that came with the notification, such as 12-345.")
        return nil
    }

    private mutating func kind(_ text: String) -> DeviceEvent.Kind? {
        if let kind = DeviceEvent.Kind.allCases.first(where: { $0.name == text }) { return kind }
        refuse("kind", "The kind is unknown.", remedy: Self.kinds)
        return nil
    }

    private mutating func instant(_ value: JSONValue) -> Instant? {
        if case .string(let text) = value, let instant = Instant(rfc3339: text) { return instant }
        refuse("at", "The value is no instant.", remedy: "Write it as 2031-03-01T06:30:00Z, or leave it out.")
        return nil
    }
}

extension Problem {
    fileprivate static func unknownField(_ pointer: String) -> Problem {
        Problem(
            pointer: pointer, code: "unknown_field", message: "The member is unknown.", remedy: "Leave it out.")
    }
}
