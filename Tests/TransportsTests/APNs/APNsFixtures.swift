import Crypto
import Domain
import Foundation
import Testing

@testable import Transports

/// One answer of APNs and the class that it must get (fixtures: `apns-errors.json`).
struct APNsErrorRow: Decodable, Sendable, CustomTestStringConvertible {
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
    let environmentKnown: Bool
    let registeredAtMs: Int64?
    let sentAtMs: Int64?
    let tokenAgeSeconds: Int?
    let mayHaveBeenSent: Bool

    var testDescription: String { id }

    enum CodingKeys: String, CodingKey {
        case id, status, reason, `class`, scope, retire, repair, wait, headers, body, environmentKnown, registeredAtMs
        case sentAtMs, tokenAgeSeconds, mayHaveBeenSent
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
        environmentKnown = try row.decodeIfPresent(Bool.self, forKey: .environmentKnown) ?? false
        registeredAtMs = try row.decodeIfPresent(Int64.self, forKey: .registeredAtMs)
        sentAtMs = try row.decodeIfPresent(Int64.self, forKey: .sentAtMs)
        tokenAgeSeconds = try row.decodeIfPresent(Int.self, forKey: .tokenAgeSeconds)
        mayHaveBeenSent = try row.decodeIfPresent(Bool.self, forKey: .mayHaveBeenSent) ?? false
    }
}

/// A GOAWAY, and what becomes of the requests of its connection.
struct APNsGoAwayRow: Decodable, Sendable, CustomTestStringConvertible {
    struct Stream: Decodable, Sendable {
        let id: Int16
        let `class`: String
        let wait: String
        let mayHaveBeenSent: Bool
    }

    let id: String
    let debugData: String
    let lastStreamId: Int16
    let streams: [Stream]

    var testDescription: String { id }
}

struct APNsErrorTable: Decodable {
    let rows: [APNsErrorRow]
    let goaway: [APNsGoAwayRow]
    let transport: [APNsErrorRow]

    /// Empty where the file cannot be read; a test demands rows.
    static let shared: APNsErrorTable? = try? Fixtures.decode("apns-errors.json")
    static let answered = shared?.rows ?? []
    static let unanswered = shared?.transport ?? []
    static let goAways = shared?.goaway ?? []
}

/// A credential file and its key, in a folder that goes away with its owner.
final class APNsCredential: Sendable {
    static let keyID = "F6G7H8J9K0"
    static let teamID = "A1B2C3D4E5"

    let folder: String
    let file: String
    let privateKey: P256.Signing.PrivateKey

    init(_ changes: [String: String] = [:]) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        file = folder + "/apple.json"
        privateKey = try P256.Signing.PrivateKey()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try write(privateKey, as: "AuthKey_\(Self.keyID).p8")
        try write(changes)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func write(_ changes: [String: String]) throws {
        var members = [
            "team_id": Self.teamID, "key_id": Self.keyID, "topic": "example.ferry",
            "key_file": "AuthKey_\(Self.keyID).p8",
        ]
        for (name, value) in changes { members[name] = value }
        try JSONEncoder().encode(members).write(to: URL(fileURLWithPath: file))
    }

    func write(_ key: P256.Signing.PrivateKey, as name: String) throws {
        try Data(key.pemRepresentation.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
    }
}
