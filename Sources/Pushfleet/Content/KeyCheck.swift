import Domain
import FoundationEssentials
import QueueStore
import Transports

/// Whether a credential's key can sign: what can be known of APNs and Web Push without sending to a device.
struct KeyCheck {
    let credential: AppContentSettings.Credential

    /// - Parameter now: seconds since 1970.
    func row(now: Int64) -> CampaignCheck.Row {
        do {
            try check(now)
            return row("key signs", accepted: true)
        } catch { return row("\(error)", accepted: false) }
    }

    private func row(_ answer: String, accepted: Bool) -> CampaignCheck.Row {
        CampaignCheck.Row(
            transport: credential.transport, credential: credential.name, language: "-", status: 0, answer: answer,
            accepted: accepted)
    }

    private func check(_ now: Int64) throws {
        switch credential.transport {
        case .apns: try APNsKeyFile.check(path: credential.file, now: now)
        case .webpush:
            let key = try VAPIDKey(path: credential.file, contact: credential.facts["contact"] ?? "")
            try key.check(now: now)
            guard key.publicKey == credential.facts["public_key"] else { throw OtherKey() }
        case .fcm: _ = try FCMKeyFile(path: credential.file)
        }
    }

    /// Browsers' subscriptions are tied to the key that they were made with.
    private struct OtherKey: Error, CustomStringConvertible {
        let description = "the file holds another key than the one that was added; put that one back"
    }
}
