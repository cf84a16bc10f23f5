import Domain
import Foundation
import Testing

@testable import Transports

@Suite struct ServiceAccountTests {
    @Test func `a key file is read`() throws {
        let account = try ServiceAccount(parsing: OAuthVector.keyFile())
        #expect(account.projectID == "ferry-test")
        #expect(account.privateKeyID == "0123456789abcdef")
        #expect(account.tokenURI == "https://oauth2.googleapis.com/token")
    }

    @Test(
        arguments: [
            (["project_id": nil], ["/project_id"]), (["project_id": "../x"], ["/project_id"]),
            (["project_id": "a/b"], ["/project_id"]), (["project_id": ""], ["/project_id"]),
            (["type": "authorized_user"], ["/type"]),
            (["token_uri": "http://oauth2.googleapis.com/token"], ["/token_uri"]),
            (["private_key": "-----BEGIN PRIVATE KEY-----\nSECRET\n-----END PRIVATE KEY-----\n"], ["/private_key"]),
            (["private_key": nil, "client_email": "nobody"], ["/client_email", "/private_key"]),
            (
                [
                    "type": nil, "project_id": nil, "private_key_id": nil, "private_key": nil, "client_email": nil,
                    "token_uri": nil,
                ],
                ["/client_email", "/private_key", "/private_key_id", "/project_id", "/token_uri", "/type"]
            ),
        ] as [([String: String?], [String])])
    func `every problem is named at once`(changes: [String: String?], pointers: [String]) throws {
        let file = try OAuthVector.keyFile(changing: changes)
        let thrown = #expect(throws: KeyFileProblems.self) { try ServiceAccount(parsing: file) }
        let problems = try #require(thrown).problems
        #expect(problems.map(\.pointer).sorted() == pointers)
        #expect(problems.allSatisfy { !$0.message.isEmpty && !$0.remedy.isEmpty })
        #expect(!"\(try #require(thrown))".contains("SECRET"))
    }

    @Test(arguments: ["", "not JSON", "[]", "7"]) func `what is no JSON object is one problem`(text: String) throws {
        let thrown = #expect(throws: KeyFileProblems.self) { try ServiceAccount(parsing: Array(text.utf8)) }
        #expect(try #require(thrown).problems.map(\.pointer) == [""])
    }

    @Test func `a value of another type is a problem of its field`() throws {
        let text = String(decoding: try OAuthVector.keyFile(), as: UTF8.self)
            .replacingOccurrences(of: #""project_id":"ferry-test""#, with: #""project_id":7"#)
        let thrown = #expect(throws: KeyFileProblems.self) { try ServiceAccount(parsing: Array(text.utf8)) }
        #expect(try #require(thrown).problems.map(\.pointer) == ["/project_id"])
    }

    @Test func `printing or dumping an account shows no key`() throws {
        let account = try ServiceAccount(parsing: OAuthVector.keyFile())
        var dumped = ""
        dump(account, to: &dumped)
        for shown in ["\(account)", dumped] {
            #expect(shown.contains("ferry-test"))
            #expect(!shown.contains("BEGIN"))
            #expect(!shown.contains("MII"))
        }
    }

    @Test func `a missing file says what to do`() throws {
        let thrown = #expect(throws: KeyFileProblems.self) { try KeyFileReading(path: "/nonexistent/key.json") }
        #expect(try #require(thrown).problems.map(\.code) == ["key_file_unreadable"])
    }

    @Test func `a changed file is read again, a broken one leaves the account as it was`() throws {
        let file = try TemporaryFile(OAuthVector.keyFile())
        let reading = try KeyFileReading(path: file.path)
        #expect(try !reading.reload())
        try file.write(OAuthVector.keyFile(changing: ["project_id": "other"]))
        #expect(try reading.reload())
        #expect(reading.account.projectID == "other")
        try file.write(Array("{".utf8))
        #expect(throws: KeyFileProblems.self) { try reading.reload() }
        #expect(reading.account.projectID == "other")
    }

    @Test func `a sealed token opens for the same credential, instants and key only`() throws {
        let account = try ServiceAccount(parsing: OAuthVector.keyFile())
        let token = AccessToken(text: "ya29.secret")
        let start = Instant(microseconds: 1_774_000_000_000_000)
        let row = try account.seal(token, issuedAt: start, expiresAt: start + .seconds(3599), credential: .init(3))
        #expect(account.open(row, credential: .init(3))?.text == "ya29.secret")
        #expect(account.open(row, credential: .init(4)) == nil)
        var later = row
        later.expiresAt = start + .seconds(7200)
        #expect(account.open(later, credential: .init(3)) == nil)
        #expect(!row.sealed.map { String($0) }.joined().contains("ya29"))
        #expect(try account.seal(token, issuedAt: start, expiresAt: start, credential: .init(3)).sealed != row.sealed)
        var dumped = ""
        dump(token, to: &dumped)
        #expect(!"\(token)\(dumped)\(String(reflecting: token))".contains("ya29"))
    }

    @Test func `line ends of the file do not change what a token is sealed under`() throws {
        let pem = try OAuthVector.load().pem
        let other = pem.replacingOccurrences(of: "\n", with: "\r\n")
        let first = try ServiceAccount(parsing: OAuthVector.keyFile())
        let second = try ServiceAccount(parsing: OAuthVector.keyFile(changing: ["private_key": other]))
        let now = Instant(microseconds: 0)
        let row = try first.seal(AccessToken(text: "t"), issuedAt: now, expiresAt: now, credential: .init(1))
        #expect(second.open(row, credential: .init(1))?.text == "t")
    }
}
