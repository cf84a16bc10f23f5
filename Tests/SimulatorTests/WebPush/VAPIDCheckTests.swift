import Foundation
import Testing

@testable import Simulator

@Suite struct VAPIDCheckTests {
    struct Row: Decodable, CustomTestStringConvertible {
        let id: String
        let authorization: String
        let valid: Bool
        let why: String?
        let refusedBy: [String]?

        var testDescription: String { id }
    }

    private struct Table: Decodable {
        struct Vapid: Decodable {
            let now: Int64
            let endpointOrigin: String
            let authorization: [Row]
        }
        let vapid: Vapid
    }

    private static let table: Table.Vapid = {
        do {
            guard let root = Bundle.module.url(forResource: "Fixtures", withExtension: nil) else {
                throw CocoaError(.fileNoSuchFile)
            }
            let file = try Data(contentsOf: root.appendingPathComponent("vapid.json"))
            return try JSONDecoder().decode(Table.self, from: file).vapid
        } catch {
            preconditionFailure("the table of vectors cannot be read: \(error)")
        }
    }()

    @Test(arguments: table.authorization) func `a header is taken or refused for its own reason`(row: Row) throws {
        // The row of the missing header shows what it would have been.
        let text = row.why == "missing" ? "" : row.authorization
        for manners in [nil] + PushPath.Manners.allCases {
            let path = try #require(PushPath("/push/\(manners.map { $0.rawValue + "/" } ?? "")a"))
            var check = VAPIDCheck()
            var why: String?
            do throws(VAPIDCheck.Refusal) {
                try check.check(
                    Array(text.utf8), for: path, origin: Self.table.endpointOrigin, now: Self.table.now)
            } catch {
                why = error.rawValue
            }
            let isRefusedHere = manners.map { row.refusedBy?.contains($0.rawValue) ?? false } ?? false
            #expect(why == (isRefusedHere ? "sub" : row.why), "\(manners?.rawValue ?? "any")")
        }
    }

    @Test func `a token that was good once is still looked at for its time and its origin`() throws {
        let good = try #require(Self.table.authorization.first { $0.id == "good" })
        let path = try #require(PushPath("/push/a"))
        var check = VAPIDCheck()
        let (origin, now) = (Self.table.endpointOrigin, Self.table.now)
        try check.check(Array(good.authorization.utf8), for: path, origin: origin, now: now)
        #expect(throws: VAPIDCheck.Refusal.expired) {
            try check.check(Array(good.authorization.utf8), for: path, origin: origin, now: now + 86_400)
        }
        #expect(throws: VAPIDCheck.Refusal.audience) {
            try check.check(Array(good.authorization.utf8), for: path, origin: origin + ":8443", now: now)
        }
    }
}
