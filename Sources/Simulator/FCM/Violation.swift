/// Why FCM refuses the body of a request: always 400 `INVALID_ARGUMENT`, told apart by its details.
struct Violation: Error, Equatable {
    /// Which details the answer carries; the shapes are those observed at FCM.
    enum Detail {
        /// The JSON itself, or a name that the schema does not have: `BadRequest` alone.
        case request
        /// What FCM itself checks: `FcmError` and `BadRequest`.
        case message
        /// Too big: `FcmError` and nothing else.
        case bare
    }

    let detail: Detail
    /// The answer's text. It quotes no value.
    let message: String
    /// What is wrong with the field.
    let description: String
    /// Names from the innermost object outwards, as they are written in the request.
    private var path: [String]

    init(_ detail: Detail, at field: String = "", message: String, description: String? = nil) {
        self.detail = detail
        self.message = message
        self.description = description ?? message
        path = field.isEmpty ? [] : [field]
    }

    /// Dotted, from the root: `message.android.ttl`.
    var field: String {
        path.reversed().reduce("") { $0.isEmpty || $1.hasPrefix("[") ? $0 + $1 : "\($0).\($1)" }
    }

    /// The same violation, seen from the object that holds it under `name`.
    func inside(_ name: String) -> Violation {
        var outer = self
        outer.path.append(name)
        return outer
    }
}

extension Violation {
    /// - Parameter error: a violation, or what the scanner throws.
    init(_ error: any Error) {
        if let violation = error as? Violation {
            self = violation
        } else {
            self.init(error as? JSONFault ?? JSONFault(.unexpected, at: 0))
        }
    }

    private init(_ fault: JSONFault) {
        self.init(
            .request, message: "Invalid JSON payload received. \(fault.reason.rawValue).",
            description: "Invalid JSON payload received. \(fault.reason.rawValue) at byte \(fault.offset).")
    }

    static func unknownName(_ name: String) -> Violation {
        Violation(
            .request, at: name, message: "Invalid JSON payload received. Unknown name \"\(name)\": Cannot find field.",
            description: "Cannot find field.")
    }

    static func repeatedName(_ name: String) -> Violation {
        Violation(
            .request, at: name, message: "Invalid JSON payload received. Repeated object key.",
            description: "Field is set twice.")
    }

    /// A value of the wrong JSON type, or one that cannot be read as the field's type.
    static func wrongType(_ type: String) -> Violation {
        Violation(.message, message: "Invalid value (\(type)).", description: "Invalid value (\(type)).")
    }

    static func badValue(_ description: String, at field: String = "") -> Violation {
        Violation(.message, at: field, message: description)
    }

    static let noTarget = Violation(.request, message: "Recipient of the message is not set.")
    static let secondTarget = Violation(
        .request, message: "Invalid JSON payload received. oneof field is already set.",
        description: "oneof field 'target' is already set.")
    /// Its field is `message.token` (or `message.fid`): what tells a client that the address is at fault.
    static let badToken = Violation(.message, message: "The registration token is not a valid FCM registration token")
    static let tooBig = Violation(.bare, message: "Message is too big.")
    static let appleDataPriority = Violation(
        .message, at: "message.apns.headers",
        message: "Apple data-only message with a priority other than 5.",
        description: "Only priority 5 is allowed here.")
}
