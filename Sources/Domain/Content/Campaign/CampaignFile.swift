import FoundationEssentials

/// A campaign as its author wrote it (design §10), in typed values.
package struct CampaignFile: Sendable, Equatable {
    /// What a file is held to.
    package enum Mode: Sendable {
        /// Everything: the send, and `campaign validate`.
        case strict
        /// What autosave must not lose: types of known members, size, no U+0000 (content model §10).
        case draft
    }

    package static let maximumBytes = 1_048_576
    package static let maximumDraftBytes = 65_536
    package static let maximumVariants = 10

    package var app: String
    package var name: String
    package var idempotencyKey: String?
    /// nil where variants stand in its place, and in drafts that cannot be sent yet.
    package var message: MessageSource?
    /// `message` as written, compact and sorted by key: what a content version stores.
    package var messageJSON: String?
    package var variants: [MessageVariant]
    /// The share of the audience that gets nothing, 0 ..< 1.
    package var holdout: Double
    package var delivery: DeliveryOptions
    package var disturbance: Disturbance
    /// nil only in drafts.
    package var audience: Audience?
    /// A topic or condition in place of subscribers: one request, that FCM fans out. `audience` is `.all` then.
    package var target: ProviderTarget?
    package var schedule: Schedule
    /// Requests a second over the whole fleet; nil = as fast as the routes allow.
    package var perSecond: Int?
    /// The run's share of the workers, 1 to 1000.
    package var weight: Int

    /// One arm of an A/B test.
    package struct MessageVariant: Sendable, Equatable {
        package var name: String
        /// Its share, in relation to the others' weights.
        package var weight: Double
        package var message: MessageSource?
        package var messageJSON: String
    }

    /// Whom it may disturb, and when.
    package struct Disturbance: Sendable, Equatable {
        package var perUser = PerUser.all
        /// nil = as the app says.
        package var quietHours: QuietHours.Policy?
        /// nil = every rule of the app holds.
        package var bypass: Bypass?
        package init() {}
    }

    package var perUser: PerUser { disturbance.perUser }

    /// Who of a user's installations gets it.
    package enum PerUser: String, Sendable, CaseIterable {
        case all
        /// Of those that can be sent to, the one that registered last.
        case newest
    }
}

extension CampaignFile {
    /// Reads a campaign file.
    /// - Parameter meter: measures what could be sent, against each transport's limit.
    /// - Throws: `ContentProblems` with everything that is wrong, sorted by pointer.
    package static func parse(
        _ json: [UInt8], mode: Mode, meter: (any MessageMeter)? = nil
    ) throws(ContentProblems) -> CampaignFile {
        let value = try value(json, limit: mode == .strict ? maximumBytes : maximumDraftBytes)
        var reader = CampaignReader(ProblemList(mode: mode), meter: meter)
        reader.refuseInexactNumbers(in: json, of: "audience")
        return try reader.campaign(value)
    }

    /// The file as JSON, or the one problem that stands before all others.
    static func value(_ json: [UInt8], limit: Int) throws(ContentProblems) -> JSONValue {
        guard json.count <= limit else {
            throw problem(.fileTooLarge, "The file has more than \(limit) bytes.", remedy: "Shorten or split it.")
        }
        if let fault = JSONSyntax.fault(in: json) {
            throw problem(
                .jsonInvalid, "Line \(fault.line), column \(fault.column): \(fault.message)",
                remedy: "Correct the JSON at that place.")
        }
        do {
            return try JSONDecoder().decode(JSONValue.self, from: Data(json))
        } catch {
            throw problem(
                .jsonInvalid, "A value in the file cannot be read.", remedy: "Look for a number beyond 1e308.")
        }
    }

    private static func problem(_ code: ProblemCode, _ message: String, remedy: String) -> ContentProblems {
        ContentProblems([Problem(pointer: "", code: code.rawValue, message: message, remedy: remedy)])
    }
}
