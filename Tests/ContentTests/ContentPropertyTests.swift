import Domain
import Foundation
import Testing
import Transports

@testable import Simulator

/// What the content model promises of any campaign and any subscriber, with the provider's own check as the judge.
@Suite(.timeLimit(.minutes(30))) struct ContentPropertyTests {
    private let channel = AndroidChannel(id: "boarding", name: "Boarding", importance: .high, description: "Gates")

    private func accepted(_ bytes: [UInt8]) -> CampaignFile? {
        try? CampaignFile.parse(bytes, mode: .strict, meter: FCMMessageMeter(channel: channel))
    }

    private func content(_ campaign: CampaignFile) -> ContentVersion? {
        guard case .inline(let message)? = campaign.message else { return nil }
        let isDescribed = message.presentation.channelId == channel.id
        return ContentVersion(
            id: .init(1), message: message, delivery: campaign.delivery, channel: isDescribed ? channel : nil)
    }

    /// Renders for one subscriber and holds the result against the provider's check.
    /// - Returns: why it was not sent.
    private func judge(_ content: ContentVersion, _ recipient: PreviewRecipient, _ note: String) -> Reason? {
        guard let preview = FCMMessagePreview(project: "p").preview(of: content, for: recipient) else { return nil }
        switch preview.refusal {
        case nil:
            do throws(Violation) {
                let reader = try SendRequestReader(Array(preview.body.utf8))
                #expect(reader.request.sizes.payload <= preview.limit && preview.bytes <= preview.limit, "\(note)")
            } catch { Issue.record("\(note): the provider would refuse it: \(error) \(preview.body)") }
        case .payloadTooLarge?:
            // A subscriber's own attributes did it: without them it fits.
            var nobody = recipient
            nobody.attributes = [:]
            let plain = FCMMessagePreview(project: "p").preview(of: content, for: nobody)
            #expect(plain?.refusal != .payloadTooLarge, "\(note)")
        case .renderedEmpty?, .renderedURLInvalid?: break
        case let other?: Issue.record("\(note): \(other)")
        }
        return preview.refusal
    }

    @Test func `a strict campaign is never refused for its size unless a subscriber's attributes did it`() {
        var random = RandomContent(seed: Effort.seed)
        var rendered = 0
        var refusals: [Reason: Int] = [:]
        var campaigns = 0
        while rendered < Effort.subscribers {
            guard let campaign = accepted(random.campaign(valid: true)), let content = content(campaign) else {
                continue
            }
            campaigns += 1
            for _ in 0..<200 where rendered < Effort.subscribers {
                rendered += 1
                let note = "seed \(Effort.seed), campaign \(campaigns), subscriber \(rendered)"
                if let refusal = judge(content, random.recipient(number: rendered), note) {
                    refusals[refusal, default: 0] += 1
                }
            }
        }
        // Otherwise the limit was never near.
        #expect(refusals[.payloadTooLarge, default: 0] > 0)
        #expect(rendered == Effort.subscribers)
    }

    @Test func `no file, placeholder or tag brings the reader or the renderer down, nor a payload above the limit`() {
        var random = RandomContent(seed: Effort.seed &+ 1)
        var taken = 0
        for iteration in 0..<Effort.iterations(2000) {
            let bytes = random.campaign(valid: iteration.isMultiple(of: 2))
            _ = try? CampaignFile.parse(bytes, mode: .draft)
            _ = Template.parse(random.template(upTo: 30, valid: false))
            guard let campaign = accepted(bytes), let content = content(campaign) else { continue }
            taken += 1
            for number in 0..<5 {
                _ = judge(content, random.recipient(number: number), "seed \(Effort.seed), iteration \(iteration)")
            }
        }
        #expect(taken > Effort.iterations(2000) / 10)
    }

    @Test func `what is accepted reads back the same, and is accepted again`() throws {
        var random = RandomContent(seed: Effort.seed &+ 2)
        for _ in 0..<Effort.iterations(300) {
            guard let campaign = accepted(random.campaign(valid: true)), let content = content(campaign) else {
                continue
            }
            #expect(try Message.decode(content.message.encode()) == content.message)
        }
    }
}
