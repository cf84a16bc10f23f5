import Crypto
import Domain
import Foundation
import HTTP2
import Testing

@testable import Transports

/// The tables of `Fixtures/vapid.json`.
struct VAPIDVectors: Decodable {
    struct Published: Decodable {
        let header: String
        let claims: String
        let signature: String
        let k: String
    }

    struct Vapid: Decodable {
        struct Key: Decodable {
            let pem: String
            let rawPrivate: String?
            let k: String
        }
        struct Audience: Decodable, CustomTestStringConvertible {
            let id: String
            let endpoint: String
            let aud: String?
            let allowedByDefault: Bool
            var testDescription: String { id }
        }
        let now: Int64
        let key: Key
        let otherKey: Key
        let aud: [Audience]
    }

    struct Topic: Decodable {
        let collapseKey: String
        let topic: String
    }

    let rfc8292: Published
    let vapid: Vapid
    let topic: [Topic]

    static let all: VAPIDVectors = {
        do { return try Fixtures.decode("vapid.json") } catch {
            preconditionFailure("the table of vectors cannot be read: \(error)")
        }
    }()

    static func key() throws -> VAPIDKey {
        try VAPIDKey(file: Array(all.vapid.key.pem.utf8), contact: "mailto:push@ferry.example")
    }
}

@Suite struct VAPIDTests {
    @Test func `the token of RFC 8292 section 2.4 verifies, and its neighbours do not`() throws {
        let vector = VAPIDVectors.all.rfc8292
        let key = try P256.Signing.PublicKey(x963Representation: try #require(Base64URL.decode(vector.k)))
        let text = "\(vector.header).\(vector.claims).\(vector.signature)"
        try JSONWebToken(parsing: text).verify(using: key)
        let other = try P256.Signing.PublicKey(
            x963Representation: try #require(Base64URL.decode(VAPIDVectors.all.vapid.key.k)))
        #expect(throws: CryptoError.self) { try JSONWebToken(parsing: text).verify(using: other) }
        let changed = text.replacingOccurrences(of: vector.claims, with: String(vector.claims.dropLast(4)))
        #expect(throws: CryptoError.self) { try JSONWebToken(parsing: changed).verify(using: key) }
    }

    @Test(arguments: VAPIDVectors.all.vapid.aud)
    func `a token is made out for the endpoint's origin`(row: VAPIDVectors.Vapid.Audience) {
        #expect(WebPushEndpoint(row.endpoint)?.audience == row.aud)
        #expect((EndpointPolicy().fault(in: row.endpoint) == nil) == row.allowedByDefault)
    }

    @Test func `an endpoint's path and query go out as they are written`() throws {
        let endpoint = try #require(WebPushEndpoint("HTTPS://Wns2.Notify.Windows.com/w/?token=BQYAAAD%2f"))
        #expect(String(decoding: endpoint.path, as: UTF8.self) == "/w/?token=BQYAAAD%2f")
        #expect(endpoint.origin.host == "wns2.notify.windows.com")
        #expect(try #require(WebPushEndpoint("https://a.example?x#y")).path == Array("/?x".utf8))
    }

    @Test func `a token says who, for whom and until when, and the key verifies it`() throws {
        struct Claims: Decodable, Equatable {
            let aud: String
            let exp: Int64
            let sub: String
        }
        let key = try VAPIDVectors.key()
        let token = try VAPIDToken(for: "https://push.example.net", key: key, now: 1_774_000_000)
        let parts = try #require(token.authorization.wholeMatch(of: /vapid t=([^,]+), k=([A-Za-z0-9_-]+)/))
        #expect(String(parts.2) == VAPIDVectors.all.vapid.key.k)
        let parsed = try JSONWebToken(parsing: String(parts.1))
        try parsed.verify(using: key.signing.publicKey)
        #expect(parsed.header.alg == "ES256")
        #expect(parsed.header.typ == "JWT")
        #expect(
            try parsed.claims(as: Claims.self)
                == Claims(aud: "https://push.example.net", exp: 1_774_043_200, sub: "mailto:push@ferry.example"))
    }

    @Test func `a token is used for nine hours`() throws {
        let token = try VAPIDToken(for: "https://a.example", key: try VAPIDVectors.key(), now: 0)
        #expect(token.isFresh(at: 9 * 3600))
        #expect(!token.isFresh(at: 9 * 3600 + 1))
    }

    @Test func `a key is read from each form in which senders keep it`() throws {
        let vector = VAPIDVectors.all.vapid.key
        let raw = try #require(vector.rawPrivate)
        let pair = #"{"publicKey":"\#(vector.k)","privateKey":"\#(raw)"}"#
        for text in [vector.pem, raw, raw + "\n", pair] {
            #expect(try VAPIDKey(file: Array(text.utf8), contact: "https://ferry.example").publicKey == vector.k)
        }
        for text in ["", "{}", "AAAA", String(repeating: "A", count: 43), "-----BEGIN PRIVATE KEY-----"] {
            #expect(throws: VAPIDKeyInvalid.self) {
                try VAPIDKey(file: Array(text.utf8), contact: "https://ferry.example")
            }
        }
        #expect(throws: VAPIDKeyInvalid.self) { try VAPIDKey(path: "/nowhere", contact: "https://ferry.example") }
    }

    @Test(
        arguments: [
            ("mailto:push@ferry.example", true), ("https://ferry.example/contact", true), ("push@ferry.example", false),
            ("mailto: push@ferry.example", false), ("mailto:ferry.example", false), ("mailto:a@b@ferry.example", false),
            ("https://localhost/", false), ("https://push.localhost", false), ("mailto:a@host.invalid", false),
            ("http://ferry.example", false), ("", false), ("mailto:a@localhost", false),
        ] as [(String, Bool)])
    func `a contact is one that every push service takes`(contact: String, isValid: Bool) {
        #expect(VAPIDKey.isContact(contact) == isValid)
    }

    @Test func `a topic is the collapse key where that fits, else its digest`() {
        #expect(VAPIDVectors.all.topic.count >= 15)
        for row in VAPIDVectors.all.topic {
            #expect(String(decoding: WebPushTopic.of(row.collapseKey), as: UTF8.self) == row.topic)
        }
    }

    @Test func `a description shows no key`() throws {
        let vector = VAPIDVectors.all.vapid.key
        let secret = try #require(vector.rawPrivate)
        let description = String(describing: try VAPIDVectors.key())
        #expect(!description.contains(secret))
    }
}
