import Domain
import Foundation

/// Weighs an FCM data message as content model §11.2 lays it out, by other means than the transport's.
struct DataMessageMeter: MessageMeter {
    func sizes(of message: Message, delivery: DeliveryOptions) -> [SizeReport] {
        let common = common(message)
        guard !message.silent else { return [report(common.merging(["silent": "1"]) { $1 }, nil)] }
        return message.variants.map { variant in
            var data = common
            data["title"] = text(variant.title)
            data["body"] = text(variant.body)
            data["image"] = variant.image
            data["url"] = variant.url.map(text)
            if !variant.actions.isEmpty {
                data["actions"] = json(
                    variant.actions.map { action in
                        ["id": action.id, "title": action.title, "url": action.url.map(text)].compactMapValues(\.self)
                    })
            }
            return report(data, variant.language)
        }
    }

    private func common(_ message: Message) -> [String: String] {
        var data = ["id": "9223372036854775807-9223372036854775807"]
        let presentation = message.presentation
        data["sound"] = presentation.sound
        data["badge"] = presentation.badge.map { String($0) }
        data["threadId"] = presentation.threadId
        data["icon"] = presentation.icon
        data["channelId"] = presentation.channelId
        if !message.data.isEmpty {
            data["data"] = json(Dictionary(uniqueKeysWithValues: message.data.map { ($0.key, $0.value) }))
        }
        return data
    }

    private func report(_ data: [String: String], _ language: String?) -> SizeReport {
        SizeReport(transport: .fcm, language: language, bytes: json(data).utf8.count, limit: 4096)
    }

    private func text(_ template: Template) -> String {
        template.segments.map { segment in
            switch segment {
            case .literal(let text): text
            case .placeholder(_, let fallback): fallback ?? ""
            }
        }.joined()
    }

    private func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { preconditionFailure("texts can be encoded") }
        return String(decoding: data, as: UTF8.self)
    }
}
