import Crypto
import FoundationEssentials
import HTTP2
import Testing

@testable import Simulator

/// The endpoints without a server: requests in, actions out.
final class Scenario {
    static let audience = "https://127.0.0.1:1/token"
    /// One key for all tests: making one takes as long as a hundred of them.
    static let keyFile = Result { try ServiceAccount.make(project: "demo", tokenURI: audience) }

    let clock = ContinuousClock.now
    var state: SimulatorState
    let fcm: FCMEndpoint
    let admin: AdminEndpoint
    let bearer: [UInt8]

    init(seed: UInt64 = 7, faults: String = "", tokenLifetime: Int = 3599, keptIDs: Int = 1000) throws {
        var settings = FaultSettings(seed: seed)
        try settings.change(faults)
        state = SimulatorState(seed: seed, faults: settings, tokenLifetime: tokenLifetime, keptIDs: keptIDs)
        fcm = FCMEndpoint(seed: seed, projects: ["demo", "other"])
        admin = AdminEndpoint(seed: seed)
        bearer = Array("Bearer \(try state.tokens.issue(for: "demo", at: clock))".utf8)
    }

    /// Sends to the project `demo` with a good access token, unless told otherwise.
    func send(
        _ body: String, method: String = "POST", project: String = "demo", bearer: [UInt8]? = nil,
        contentType: String? = "application/json; charset=UTF-8", after: Duration = .zero
    ) -> HTTP2ServerAction {
        let request = ProviderRequest(
            method: method, path: "/v1/projects/\(project)/messages:send", authorization: bearer ?? self.bearer,
            contentType: contentType.map { Array($0.utf8) }, body: Array(body.utf8))
        return fcm.answer(request, project: project, at: clock + after, &state)
    }

    /// A data message that a device would show.
    static func message(_ token: String, id: String = "n-1") -> String {
        #"{"message":{"token":"\#(token)","data":{"id":"\#(id)","title":"Boarding","body":"Gate B4"}}}"#
    }

    func ask(_ method: String, _ path: String, _ body: String = "") -> HTTP2ServerResponse {
        let request = ProviderRequest(method: method, path: path, body: Array(body.utf8))
        return admin.answer(request, server: { nil }, &state)
    }

    func counts() throws -> [String: JSONValue] {
        try #require(JSONValue(parsing: ask("GET", "/admin/counts").body).members)
    }
}

extension HTTP2ServerAction {
    /// The response, whether or not it comes at once.
    var response: HTTP2ServerResponse? {
        switch self {
        case .respond(let response), .respondAfter(_, let response): response
        case .goAway(let response): response
        case .stall, .reset, .refuse, .goAwayUnprocessed, .closeConnection: nil
        }
    }

    var json: JSONValue? { response.flatMap { try? JSONValue(parsing: $0.body) } }

    /// FCM's code, from the first detail that has one.
    var fcmCode: String? {
        json?["error"]?["details"]?.elements?.compactMap { $0["errorCode"]?.text }.first
    }

    /// The first field that is named as wrong.
    var field: String? {
        json?["error"]?["details"]?.elements?.compactMap { $0["fieldViolations"]?.elements?.first?["field"]?.text }
            .first
    }
}

/// Any JSON, through the general decoder.
enum JSONValue: Decodable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(parsing bytes: [UInt8]) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    subscript(_ key: String) -> JSONValue? { members?[key] }
    var members: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
    var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
}
