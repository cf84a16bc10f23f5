import Crypto
import Foundation
import Testing

@testable import Simulator

@Suite(.timeLimit(.minutes(1))) struct BrowserKeysTests {
    @Test func `made-up subscribers carry the keys that the simulator's browsers have`() throws {
        let lines = try Self.subscribers(80)
        var browsers = 0
        for fields in lines where fields[2] == "webpush" {
            browsers += 1
            let path = try #require(PushPath(String(fields[3].dropFirst("https://127.0.0.1:1".count))))
            let keys = BrowserKeys(token: path.token[...])
            #expect(try Base64URL.encode(keys.opener().publicKey) == fields[4])
            #expect(Base64URL.encode(keys.secret) == fields[5])
        }
        #expect(browsers == 10)
    }

    @Test func `made-up iPhones are known in the environment that they are registered for, and get into no trouble`()
        throws
    {
        let phones = try Self.subscribers(80).filter { $0[2] == "apns" }
        for fields in phones {
            let token = APNsToken(Array(fields[3].utf8)[...], attempts: 0)
            #expect(fields[3].utf8.count == 64 && token.trouble == nil)
            #expect(token.isSandbox == (fields[6] == "sandbox"))
        }
        #expect(phones.count == 20)
    }

    /// The columns up to the environment hold no comma of their own.
    private static func subscribers(_ count: Int) throws -> [[String]] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-B", "Scripts/lib/demo-subscribers", String(count), "https://127.0.0.1:1"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return text.split(separator: "\n").dropFirst().map { line in
            line.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
        }
    }
}
