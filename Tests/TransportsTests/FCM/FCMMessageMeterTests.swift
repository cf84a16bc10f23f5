import Domain
import Foundation
import Testing

@testable import Transports

@Suite struct FCMMessageMeterTests {
    static let longestID = JobIdentity(run: .init(.max), number: .max)

    @Test func `each language weighs what its data weighs on the wire with the longest id`() throws {
        let content = ContentVersion.boarding
        let sizes = FCMMessageMeter().sizes(of: content.message, delivery: content.delivery)
        #expect(sizes.map(\.language) == ["en", "pt-BR"])
        for size in sizes {
            let rendered = try Rendering(content, language: size.language, attributes: [:], identity: Self.longestID)
            let data = try #require((json(rendered.bytes)["message"] as? NSDictionary)?["data"])
            let compact = try JSONSerialization.data(withJSONObject: data, options: .withoutEscapingSlashes)
            #expect(size.bytes == compact.count)
            #expect(size.limit == 4096)
            #expect(size.transport == .fcm)
        }
    }

    @Test(arguments: [0, 1]) func `what the meter lets through is not refused for its size, and what it does not is`(
        excess: Int
    ) throws {
        func content(_ length: Int) -> ContentVersion {
            let text = template("{{name|\(String(repeating: "x", count: length))}}")
            return ContentVersion(
                id: .init(1),
                Variant(language: "en", title: template("t"), body: text, image: nil, url: nil, actions: []))
        }
        let empty = FCMMessageMeter().sizes(of: content(0).message, delivery: DeliveryOptions())[0].bytes
        let full = content(4096 - empty + excess)
        #expect(FCMMessageMeter().sizes(of: full.message, delivery: DeliveryOptions())[0].bytes == 4096 + excess)
        let rendered = try Rendering(full, language: "en", attributes: [:], identity: Self.longestID)
        #expect(rendered.refusal == (excess == 0 ? nil : .payloadTooLarge))
    }

    @Test func `a silent message weighs its data, in no language`() throws {
        let message = Message(
            variants: [], defaultVariant: 0, presentation: Presentation(), data: [.init(key: "op", value: "x")],
            silent: true)
        let size = FCMMessageMeter().sizes(of: message, delivery: DeliveryOptions())
        #expect(size.map(\.language) == [nil])
        #expect(size[0].bytes == #"{"data":"{\"op\":\"x\"}","id":"","silent":"1"}"#.utf8.count + 39)
    }
}
