import Crypto
import Domain
import Foundation
import Testing

@testable import Transports

/// Requests as they left, for implementations of others to verify (Scripts/lib/independent-checks).
@Suite(.timeLimit(.minutes(1))) struct APNsMaterialTests {
    private struct Material: Encodable {
        struct Request: Encodable {
            let authorization: String
            let id: String
            let body: String
            let job: String
        }
        let privateKey: String
        let teamID: String
        let keyID: String
        let namespace: String
        let requests: [Request]
    }

    @Test func `requests are laid out for others to verify`() async throws {
        let fake = try FakeAPNs()
        let transport = try fake.transport()
        try await withThrowingTaskGroup { group in
            group.addTask { try await transport.run() }
            try await transport.ready()
            _ = try await transport.results(of: (1...20).map { .apns($0) })
            group.cancelAll()
        }
        await transport.close(by: .now + .seconds(5))
        let material = Material(
            privateKey: try fake.credential.privateKey.pemRepresentation, teamID: APNsCredential.teamID,
            keyID: APNsCredential.keyID, namespace: UUIDv5.text(of: APNsTransport.namespace),
            requests: try fake.received.map { request in
                let id = try #require(try json(request.body)["id"] as? String)
                return Material.Request(
                    authorization: try #require(request.token), id: try #require(request.fields["apns-id"]),
                    body: String(decoding: request.body, as: UTF8.self), job: id)
            })
        #expect(material.requests.count == 20)
        let directory = URL(filePath: ".build/independent/material")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try JSONEncoder().encode(material).write(to: directory.appendingPathComponent("apns.json"))
    }
}
