import FoundationEssentials

/// An Android notification channel as an app defines it, described in pushes so that the SDK can create it on the device
/// (content model §6).
package struct AndroidChannel: Sendable, Equatable, Codable {
    package enum Importance: String, Sendable, CaseIterable, Codable { case none, min, low, `default`, high }

    /// `^[A-Za-z0-9_.-]{1,64}$`, as `presentation.channelId`.
    package var id: String
    /// What the user reads in the system's settings, 1 to 64 characters.
    package var name: String
    package var importance: Importance
    /// At most 256 characters.
    package var description: String?
    package var sound: String?
    package var vibration: Bool?
    package var lights: Bool?
    package var badge: Bool?

    package init(
        id: String, name: String, importance: Importance, description: String? = nil, sound: String? = nil,
        vibration: Bool? = nil, lights: Bool? = nil, badge: Bool? = nil
    ) {
        self.id = id
        self.name = name
        self.importance = importance
        self.description = description
        self.sound = sound
        self.vibration = vibration
        self.lights = lights
        self.badge = badge
    }

    /// What every description holds: all that is left of it when bytes are short.
    package var essential: AndroidChannel { AndroidChannel(id: id, name: name, importance: importance) }

    /// Compact JSON, sorted by key: the data entry `channel`.
    package var text: String {
        var members: [String: JSONValue] = [
            "id": .string(id), "name": .string(name), "importance": .string(importance.rawValue),
        ]
        members["description"] = description.map { .string($0) }
        members["sound"] = sound.map { .string($0) }
        members["vibration"] = vibration.map { .bool($0) }
        members["lights"] = lights.map { .bool($0) }
        members["badge"] = badge.map { .bool($0) }
        return JSONValue.object(members).text
    }

    package static func decode(_ json: String) throws -> AndroidChannel {
        try JSONDecoder().decode(AndroidChannel.self, from: Data(json.utf8))
    }

    /// What is wrong with it, by field; pointers start at the channel.
    package var problems: [Problem] {
        var problems: [Problem] = []
        func check(_ field: String, _ isRight: Bool, _ remedy: String) {
            if isRight { return }
            problems.append(
                Problem(
                    pointer: "/" + field, code: ProblemCode.presentationInvalid.rawValue,
                    message: "The \(field) is not valid.", remedy: remedy))
        }
        check("id", BundleName.isValid(id), "Use 1 to 64 letters, digits, _, . and -.")
        check("name", !WhiteSpace.isBlank(name) && !CharacterCount.of(name, exceeds: 64), "Use 1 to 64 characters.")
        check("sound", sound.map(BundleName.isValid) ?? true, "Name a sound file of the app.")
        check(
            "description", description.map { !CharacterCount.of($0, exceeds: 256) } ?? true,
            "Use at most 256 characters.")
        let texts = [name, description ?? ""]
        check("name", !texts.contains { $0.utf8.contains(0) }, "Remove the character U+0000.")
        return problems
    }
}

/// `^[A-Za-z0-9_.-]{1,64}$`: a file or channel within the app.
enum BundleName {
    static func isValid(_ text: String) -> Bool {
        1...64 ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                ProviderLabel.isLabelByte(byte) && byte != UInt8(ascii: "~") && byte != UInt8(ascii: "%")
            }
    }
}
