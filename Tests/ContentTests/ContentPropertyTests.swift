import Domain
import Foundation
import Testing

@testable import Simulator
@testable import Transports

/// What the content model promises of any campaign and any subscriber, with the provider's own check as the judge.
@Suite(.timeLimit(.minutes(30))) struct ContentPropertyTests {
    private let channel = AndroidChannel(id: "boarding", name: "Boarding", importance: .high, description: "Gates")

    /// Each provider, and Web Push in every form that an app can choose.
    enum Way: String, CaseIterable {
        case fcm, apns, webpush, webpushDeclarative, webpushPadded

        var options: WebPushOptions {
            var options = WebPushOptions()
            options.isDeclarative = self == .webpushDeclarative
            options.isPadded = self == .webpushPadded
            options.tagsByThread = self == .webpushDeclarative
            return options
        }

        func judge() throws -> any ProviderJudge {
            switch self {
            case .fcm: FCMJudge()
            case .apns: APNsJudge()
            case .webpush, .webpushDeclarative, .webpushPadded: try WebPushJudge(options)
            }
        }
    }

    /// The meters that strict validation has for a campaign to this one transport.
    private struct Meter: MessageMeter {
        let way: Way
        let channel: AndroidChannel

        func sizes(of message: Message, delivery: DeliveryOptions) -> [SizeReport] {
            switch way {
            case .fcm: FCMMessageMeter(channel: channel).sizes(of: message, delivery: delivery)
            case .apns: APNsMessageMeter().sizes(of: message, delivery: delivery)
            case .webpush, .webpushDeclarative, .webpushPadded:
                WebPushMessageMeter(options: way.options).sizes(of: message, delivery: delivery)
            }
        }
    }

    private func accepted(_ bytes: [UInt8], for way: Way) -> CampaignFile? {
        try? CampaignFile.parse(bytes, mode: .strict, meter: Meter(way: way, channel: channel))
    }

    private func content(_ campaign: CampaignFile) -> ContentVersion? {
        guard case .inline(let message)? = campaign.message else { return nil }
        let isDescribed = message.presentation.channelId == channel.id
        return ContentVersion(
            id: .init(1), message: message, delivery: campaign.delivery, channel: isDescribed ? channel : nil)
    }

    /// Renders for one subscriber and holds the result against the provider's check.
    /// - Returns: why it was not sent.
    private func verdict(
        _ content: ContentVersion, _ recipient: PreviewRecipient, by judge: any ProviderJudge, _ note: String
    ) throws -> Reason? {
        guard let preview = try judge.preview.preview(of: content, for: recipient) else { return nil }
        switch preview.refusal {
        case nil:
            #expect(preview.bytes <= preview.limit, "\(note)")
            do { try judge.check(preview) } catch {
                Issue.record("\(note): the provider would refuse it: \(error) \(preview.body)")
            }
        case .payloadTooLarge?:
            // A subscriber's own attributes did it: without them it fits.
            var nobody = recipient
            nobody.attributes = [:]
            let plain = try judge.preview.preview(of: content, for: nobody)
            #expect(plain?.refusal != .payloadTooLarge, "\(note)")
        case .renderedEmpty?, .renderedURLInvalid?: break
        case let other?: Issue.record("\(note): \(other)")
        }
        return preview.refusal
    }

    @Test(arguments: Way.allCases)
    func `a strict campaign is never refused for its size unless a subscriber's attributes did it`(way: Way) throws {
        var random = RandomContent(seed: Effort.seed)
        let judge = try way.judge()
        var rendered = 0
        var refusals: [Reason: Int] = [:]
        var campaigns = 0
        while rendered < Effort.subscribers {
            guard let campaign = accepted(random.campaign(valid: true), for: way), let content = content(campaign)
            else { continue }
            campaigns += 1
            for _ in 0..<200 where rendered < Effort.subscribers {
                rendered += 1
                let note = "\(way), seed \(Effort.seed), campaign \(campaigns), subscriber \(rendered)"
                var recipient = random.recipient(number: rendered)
                recipient.address = try judge.address(number: rendered)
                if let refusal = try verdict(content, recipient, by: judge, note) {
                    refusals[refusal, default: 0] += 1
                }
            }
        }
        // Otherwise the limit was never near.
        #expect(refusals[.payloadTooLarge, default: 0] > 0)
        #expect(rendered == Effort.subscribers)
    }

    @Test(arguments: Way.allCases)
    func `no file, placeholder or tag brings the reader or the renderer down, nor a payload above the limit`(
        way: Way
    ) throws {
        var random = RandomContent(seed: Effort.seed &+ 1)
        let judge = try way.judge()
        var taken = 0
        for iteration in 0..<Effort.iterations(1000) {
            let bytes = random.campaign(valid: iteration.isMultiple(of: 2))
            _ = try? CampaignFile.parse(bytes, mode: .draft)
            _ = Template.parse(random.template(upTo: 30, valid: false))
            guard let campaign = accepted(bytes, for: way), let content = content(campaign) else { continue }
            taken += 1
            for number in 0..<5 {
                var recipient = random.recipient(number: number)
                recipient.address = try judge.address(number: number)
                _ = try verdict(
                    content, recipient, by: judge, "\(way), seed \(Effort.seed), iteration \(iteration)")
            }
        }
        #expect(taken > Effort.iterations(1000) / 10)
    }

    @Test func `what is accepted reads back the same, and is accepted again`() throws {
        var random = RandomContent(seed: Effort.seed &+ 2)
        for _ in 0..<Effort.iterations(300) {
            guard let campaign = accepted(random.campaign(valid: true), for: .fcm), let content = content(campaign)
            else { continue }
            #expect(try Message.decode(content.message.encode()) == content.message)
        }
    }
}
