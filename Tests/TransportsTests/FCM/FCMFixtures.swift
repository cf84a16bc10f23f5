import Domain
import Foundation
import Testing

/// One answer of FCM's, or of the token endpoint's, and the class that it must get (fixtures: `fcm-errors.json`).
struct FCMErrorRow: Decodable, Sendable, CustomTestStringConvertible {
    let id: String
    /// 0 = no answer.
    let status: Int
    let reason: String?
    let `class`: String
    let scope: String
    let retire: Bool
    let repair: String?
    /// Seconds, `now`, `backoff`, `retry_after`, or nothing.
    let wait: String?
    let headers: [String: String]
    let body: String
    let mayHaveBeenSent: Bool

    var testDescription: String { id }

    enum CodingKeys: String, CodingKey {
        case id, status, reason, `class`, scope, retire, repair, wait, headers, body, mayHaveBeenSent
    }

    init(from decoder: any Decoder) throws {
        let row = try decoder.container(keyedBy: CodingKeys.self)
        id = try row.decode(String.self, forKey: .id)
        status = try row.decode(Int.self, forKey: .status)
        reason = try row.decodeIfPresent(String.self, forKey: .reason)
        `class` = try row.decode(String.self, forKey: .class)
        scope = try row.decode(String.self, forKey: .scope)
        retire = try row.decode(Bool.self, forKey: .retire)
        repair = try row.decodeIfPresent(String.self, forKey: .repair)
        if let seconds = try? row.decode(Int.self, forKey: .wait) {
            wait = String(seconds)
        } else {
            wait = try row.decodeIfPresent(String.self, forKey: .wait)
        }
        headers = try row.decode([String: String].self, forKey: .headers)
        body = try row.decode(String.self, forKey: .body)
        mayHaveBeenSent = try row.decodeIfPresent(Bool.self, forKey: .mayHaveBeenSent) ?? false
    }
}

/// A body of the token endpoint's, and whether it holds a token.
struct TokenAnswerRow: Decodable, Sendable {
    let body: String
    let accepted: Bool
    let expiresIn: Int?
    let note: String
}

struct FCMErrorTable: Decodable {
    let send: [FCMErrorRow]
    let oauth: [FCMErrorRow]
    let tokenAnswers: [TokenAnswerRow]

    /// Empty where the file cannot be read; a test demands rows.
    static let shared: FCMErrorTable? = try? Fixtures.decode("fcm-errors.json")
    static let answered = (shared?.send ?? []).filter { $0.status > 0 }
    static let unanswered = (shared?.send ?? []).filter { $0.status == 0 }
    static let oauthRows = shared?.oauth ?? []
    static let tokenRows = shared?.tokenAnswers ?? []
}

/// A service account made for tests, and what an independent implementation signed with it.
struct OAuthVector: Decodable {
    struct Part: Decodable {
        let pem: String
        let claimsText: String
        let assertion: String
        let form: String
    }
    let oauthAssertion: Part

    static func load() throws -> Part {
        try Fixtures.decode("oauth-assertion.json", as: OAuthVector.self).oauthAssertion
    }

    /// A key file as the console hands it out.
    static func keyFile(
        changing changes: [String: String?] = [:], tokenURI: String = "https://oauth2.googleapis.com/token"
    ) throws -> [UInt8] {
        var fields: [String: String] = [
            "type": "service_account", "project_id": "ferry-test", "private_key_id": "0123456789abcdef",
            "private_key": try load().pem, "client_email": "sender@ferry-test.iam.gserviceaccount.example",
            "client_id": "1", "token_uri": tokenURI,
        ]
        for (field, value) in changes { fields[field] = value }
        return Array(try JSONEncoder().encode(fields))
    }
}

extension Answer {
    /// The word of decisions.md.
    var className: String {
        switch self {
        case .delivered: "delivered"
        case .unregistered: "unregistered"
        case .refused: "refused"
        case .retry: "retry"
        case .slowDown: "slow_down"
        case .credential: "credential"
        case .wrongProject: "wrong_project"
        case .config: "config"
        }
    }

    var wait: Duration? {
        switch self {
        case .retry(_, let after), .slowDown(_, let after): after
        default: nil
        }
    }
}
