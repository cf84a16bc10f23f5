import Crypto
import Domain
import Foundation
import Testing

@testable import Transports

/// Requests as they left, for implementations of others to open and verify (Scripts/lib/independent-checks).
@Suite(.timeLimit(.minutes(1))) struct IndependentMaterialTests {
    private struct Material: Encodable {
        struct Request: Encodable {
            let authorization: String
            let body: String
            let plaintext: String
        }
        let origin: String
        let privateKey: String
        let secret: String
        let requests: [Request]
    }

    @Test(arguments: [false, true]) func `requests of every length are laid out for others to read`(
        isPadded: Bool
    ) async throws {
        let service = try FakePushService()
        let file = try TemporaryFile(Array(VAPIDVectors.all.vapid.key.pem.utf8))
        let key = WebPushTransport.Key(id: .init(1), path: file.path, contact: "mailto:push@ferry.example")
        let transport = try service.transport(keys: [key]) { $0.options.isPadded = isPadded }
        let content = ContentVersion(
            id: .init(1),
            Variant(
                language: "en", title: template("⛴️"), body: template("{{name|-}}"), image: nil, url: nil, actions: []))
        let jobs = try (0..<40).map { number in
            var job = OutgoingJob.web(Int16(number), try FakePushService.address(service.endpoint("\(number)")))
            job.values = [String(repeating: "é\"", count: number * 30)]
            return job
        }
        let results = try await transport.results(of: jobs, content)
        #expect(results.allSatisfy { $0.status == 201 || $0.fate == .answered(.refused(.payloadTooLarge)) })
        await transport.close(by: .now)
        let material = Material(
            origin: "https://127.0.0.1:\(service.port)", privateKey: Base64URL.encode(FakePushService.privateKey),
            secret: Base64URL.encode(FakePushService.secret),
            requests: try service.received.map { request in
                Material.Request(
                    authorization: try #require(request.fields["authorization"]), body: Base64URL.encode(request.body),
                    plaintext: try FakePushService.open(request.body))
            })
        #expect(material.requests.count >= 30)
        try write(material, named: isPadded ? "webpush-padded" : "webpush")
    }

    private func write(_ material: Material, named name: String) throws {
        let directory = URL(filePath: ".build/independent/material")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try JSONEncoder().encode(material).write(to: directory.appendingPathComponent("\(name).json"))
    }
}
