import Domain
import Postgres

extension AdminStore {
    /// Sends a campaign's message to named subscribers at once, in a run that is marked as a test and left out of the
    /// reports. Neither schedule nor throttle nor holdout applies.
    /// - Parameters:
    ///   - externalIDs: of subscribers of the campaign's app.
    ///   - variant: by name; nil = the first.
    /// - Throws: `AdminError` that names who or what is unknown.
    package func testCampaign(
        _ file: CampaignFile, body: String, subscribers externalIDs: [String], variant: String?
    ) async throws -> CreatedCampaign {
        let app = try await appID(file.app)
        // The campaign's row would make a target of its own.
        if file.target != nil { throw AdminError("audience: test the message with an audience of subscribers") }
        let (file, _) = try await resolvingTemplate(of: file, app: app)
        let found = try await client.query(
            """
            SELECT s.external_id
            FROM pushfleet.app
            JOIN pushfleet.subscriber s ON s.shard = ANY (app.shards) AND s.app_id = app.id
            WHERE app.id = \(app.rawValue) AND s.external_id = ANY (\(externalIDs))
            """
        ).map { $0.string(0) }
        let missing = Set(externalIDs).subtracting(found).sorted()
        guard missing.isEmpty else {
            throw AdminError("subscriber: \(missing.joined(separator: ", ")) unknown in app '\(file.app)'")
        }
        var shown = file
        shown.idempotencyKey = nil
        shown.schedule = .now
        shown.perSecond = nil
        shown.holdout = 0
        // A test disturbs those who asked for it, at whatever hour: nothing is bypassed.
        shown.disturbance.bypass = nil
        if !file.variants.isEmpty {
            guard let chosen = variant.map({ name in file.variants.first { $0.name == name } }) ?? file.variants.first
            else { throw AdminError("variant: the file has none of that name") }
            shown.messageJSON = chosen.messageJSON
            shown.variants = []
        } else if variant != nil {
            throw AdminError("variant: the file has no variants")
        }
        let audience = Audience.externalID(externalIDs)
        let test = shown
        return try await client.withTransaction { connection in
            let campaign = try await insertCampaign(test, app: app, body: body, on: connection)
            let content = try await ContentRevision.insert(
                test, campaign: campaign, number: 1, body: body, on: connection)
            let terms = RunTerms(
                app: app, campaign: campaign, file: test, audience: audience, content: content, isTest: true)
            let times = try await terms.times(on: connection)
            let run = try await terms.insert(occurrenceAt: times.dueAt, times: times, on: connection)
            return CreatedCampaign(campaign: campaign, run: run?.rawValue ?? 0, isNew: true)
        }
    }
}
