import Domain
import Foundation
import PlainHTTP
import Testing

@testable import Transports

@Suite struct OAuthTests {
    @Test func `the assertion equals the one of an independent implementation`() throws {
        let vector = try OAuthVector.load()
        let account = try ServiceAccount(parsing: OAuthVector.keyFile())
        // The vector was issued at 1774000000; the assertion is dated 30 s back.
        let assertion = try OAuthExchange.assertion(for: account, now: Instant(microseconds: 1_774_000_030_999_999))
        #expect(assertion == vector.assertion)
        #expect(String(decoding: OAuthExchange.form(assertion: assertion), as: UTF8.self) == vector.form)
    }

    @Test func `the table of answers is there`() {
        #expect(FCMErrorTable.oauthRows.count >= 15)
        #expect(FCMErrorTable.tokenRows.count >= 5)
    }

    @Test(arguments: FCMErrorTable.oauthRows) func `every answer gets its class`(row: FCMErrorRow) throws {
        var headers = HTTPHeaders()
        for (name, value) in row.headers { headers.add(name: name, value: value) }
        let answer = OAuthAnswer(
            HTTPClientResponse(status: row.status, headers: headers, body: Array(row.body.utf8)), now: 0)
        guard case .failed(let answer, let word) = answer else {
            Issue.record("a token was read")
            return
        }
        #expect(answer.className == row.class)
        if row.reason != nil { #expect(word == row.reason) }
    }

    @Test(arguments: FCMErrorTable.tokenRows) func `a token is taken only where there is one`(row: TokenAnswerRow) {
        let answer = OAuthAnswer(HTTPClientResponse(status: 200, body: Array(row.body.utf8)), now: 0)
        guard case .token(let token, let lifetime) = answer else {
            #expect(!row.accepted)
            return
        }
        #expect(row.accepted)
        #expect(token.text.hasPrefix("ya29.test-"))
        #expect(lifetime == row.expiresIn.map { .seconds($0) })
    }

    @Test(arguments: [
        #"{"access_token":"a b","expires_in":3599}"#, #"{"access_token":"a\r\nx: y","expires_in":3599}"#,
        #"{"access_token":"a","expires_in":0}"#, #"{"access_token":"a","expires_in":-1}"#,
        #"{"access_token":"a","expires_in":"soon"}"#, #"{"access_token":"a","expires_in":99999999999}"#,
        #"{"access_token":"a"}"#, #"{"access_token":7,"expires_in":3599}"#, "", "<html>",
    ])
    func `what cannot be a token's answer is asked for again`(body: String) {
        let answer = OAuthAnswer(HTTPClientResponse(status: 200, body: Array(body.utf8)), now: 0)
        guard case .failed(.retry(.fcmAccessTokenRefused, after: nil), _) = answer else {
            Issue.record("not retried")
            return
        }
    }

    @Test func `the endpoint's Retry-After is obeyed`() {
        var headers = HTTPHeaders()
        headers.add(name: "Retry-After", value: "17")
        let answer = OAuthAnswer(HTTPClientResponse(status: 503, headers: headers), now: 0)
        guard case .failed(let answer, _) = answer else {
            Issue.record("a token was read")
            return
        }
        #expect(answer == .retry(.fcmAccessTokenRefused, after: .seconds(17)))
    }
}
