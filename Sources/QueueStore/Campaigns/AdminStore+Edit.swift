import Domain
import Postgres

package struct EditedCampaign: Sendable, Encodable {
    package let campaign: Int64
    /// Of its content, counted from 1.
    package let revision: Int32
    /// Runs that say the new content from their next claim on.
    package let runs: [Int64]
}

extension AdminStore {
    /// Replaces what a campaign says, in a new content version. A batch that was claimed before keeps what it was bound
    /// to, also through retries.
    ///
    /// Audience, schedule and how long, how often and to which devices its jobs go change only while nothing was expanded.
    /// With another schedule a recurring campaign that is over goes on.
    /// - Throws: `AdminError` when a run of it sends (pause it first), it is over or a change comes too late.
    package func editCampaign(_ campaign: Campaign.ID, _ file: CampaignFile, body: String) async throws
        -> EditedCampaign
    {
        let app = try await appID(file.app)
        let (file, template) = try await resolvingTemplate(of: file, app: app)
        let audience = try await writtenOut(file.audience ?? .all, app: app)
        try await checkZone(of: file.schedule)
        let plan = try await planRecord(file, audience: audience, app: app)
        return try await client.withTransaction { connection in
            let before = try await lock(campaign, app: app, file, on: connection)
            let runs = try await connection.query(.openRuns(of: campaign))
            for run in runs where run.bool(1) {
                throw AdminError(
                    "campaign: run \(run.int64(0)) sends; first: pushfleet campaign pause \(run.int64(0))")
            }
            if runs.isEmpty, before.schedule.isOnce {
                throw AdminError("campaign: \(campaign) is over, nobody would read it; create another campaign")
            }
            let isExpanded = runs.contains { $0.bool(2) }
            try refuseLateChanges(from: before, to: file, isExpanded: isExpanded)
            let known = try await ContentRevision.latest(of: campaign.rawValue, on: connection)
            let content = try await ContentRevision.insert(
                file, campaign: campaign.rawValue, number: known.number + 1, body: body, template: template,
                on: connection)
            _ = try await connection.query(
                """
                UPDATE pushfleet.campaign
                SET body = \(PostgresJSON(body)), name = \(file.name)
                WHERE id = \(campaign.rawValue)
                """)
            if case .cron(let cron, let zone, let policies) = file.schedule, before.schedule != file.schedule {
                let next = try await connection.firstOccurrence(of: cron, zone: zone, policies)
                try await goOn(campaign, at: next, on: connection)
            }
            let terms = RunTerms(
                app: app, campaign: campaign.rawValue, file: file, audience: audience, content: content, plan: plan)
            for run in runs { try await change(Run.ID(run.int64(0)), to: terms, whole: !isExpanded, on: connection) }
            return EditedCampaign(
                campaign: campaign.rawValue, revision: content.number, runs: runs.map { $0.int64(0) })
        }
    }

    /// With its next occurrence a recurring campaign goes on, also one that was over.
    private func goOn(_ campaign: Campaign.ID, at next: Instant?, on connection: PostgresConnection) async throws {
        guard let next else { throw AdminError.noOccurrence }
        _ = try await connection.query(
            """
            UPDATE pushfleet.campaign
            SET next_at = \(next.timestamp),
                state = CASE WHEN state IN (2, 3) THEN 1 ELSE state END,
                problems = NULL
            WHERE id = \(campaign.rawValue)
            """)
    }

    /// The campaign as it stands, its row locked against other edits and the scheduler.
    private func lock(
        _ campaign: Campaign.ID, app: App.ID, _ file: CampaignFile, on connection: PostgresConnection
    ) async throws -> CampaignFile {
        let rows = try await connection.query(
            """
            SELECT campaign.body, campaign.app_id = \(app.rawValue)
            FROM pushfleet.campaign
            WHERE campaign.id = \(campaign.rawValue)
            FOR UPDATE
            """)
        guard let row = rows.first else {
            throw AdminError("campaign: \(campaign) does not exist; see: pushfleet campaign list")
        }
        guard row.bool(1) else { throw AdminError("app: campaign \(campaign) is not of app '\(file.app)'") }
        return try CampaignFile.parse(Array(row.json(0).utf8), mode: .strict)
    }

    private func refuseLateChanges(from old: CampaignFile, to new: CampaignFile, isExpanded: Bool) throws {
        guard old.schedule.isOnce == new.schedule.isOnce else {
            throw AdminError("schedule: a recurring campaign stays one; create another campaign")
        }
        if old.target != new.target {
            throw AdminError("audience: a topic or condition stays what it is; create another campaign")
        }
        guard isExpanded else { return }
        if old.variants.map(\.name) != new.variants.map(\.name) || old.variantBounds != new.variantBounds {
            throw AdminError("variants: people have their variants already; change the messages alone")
        }
        if old.audience != new.audience || old.schedule != new.schedule && old.schedule.isOnce {
            throw AdminError(
                "audience, schedule: its jobs are there already; cancel it and create another, or change the message "
                    + "alone")
        }
        if old.delivery.inDoubt != new.delivery.inDoubt || old.delivery.life != new.delivery.life
            || old.perUser != new.perUser
        {
            throw AdminError(
                "delivery, perUser: inDoubt, ttlSeconds and perUser hold for its jobs, which are there already; cancel it "
                    + "and create another, or change the message alone")
        }
    }

    private func change(
        _ run: Run.ID, to terms: RunTerms, whole: Bool, on connection: PostgresConnection
    ) async throws {
        _ = try await connection.query(
            """
            UPDATE pushfleet.run
            SET content_version = \(terms.content.version), variant_versions = \(terms.content.variants),
                rate = \(terms.file.perSecond.map(Int32.init)), weight = \(Int32(terms.file.weight)),
                quiet_policy = \(terms.file.disturbance.quietHours?.code), exempt = \(terms.exempt)
            WHERE id = \(run.rawValue)
            """)
        guard whole else { return }
        let times = try await terms.times(on: connection)
        let isRecurring = if case .cron = terms.file.schedule { true } else { false }
        let policies = terms.file.schedule.policies
        _ = try await connection.query(
            """
            UPDATE pushfleet.run
            SET audience = \(PostgresJSON(terms.audience.json.text)), variant_bounds = \(terms.file.variantBounds),
                ttl = \(PostgresInterval(terms.file.delivery.life)),
                in_doubt = \(terms.file.delivery.inDoubt.rawValue), announce_window = \(terms.announceWindow),
                missing_zone = \(policies.missingZone.code), past_local = \(policies.pastLocal.code),
                plan = \(terms.plan), one_per_user = \(terms.file.perUser == .newest),
                occurrence_at = CASE WHEN \(isRecurring) THEN occurrence_at ELSE \(times.dueAt.timestamp) END,
                due_at = CASE WHEN \(isRecurring) THEN due_at ELSE \(times.dueAt.timestamp) END,
                expand_at = CASE WHEN \(isRecurring) THEN expand_at ELSE \(times.expandAt?.timestamp) END,
                audience_as_of = CASE WHEN \(isRecurring) THEN audience_as_of ELSE \(times.audienceAsOf.timestamp) END,
                local_at = \(times.localAt)::text::timestamp, zone_rules = \(times.zoneRules)
            WHERE id = \(run.rawValue)
            """)
    }
}

extension PostgresQuery {
    /// Runs that are not over, their rows locked, with whether they send and whether their expansion has begun. A page
    /// that is under way holds its progress row, and is waited for.
    fileprivate static func openRuns(of campaign: Campaign.ID) -> PostgresQuery {
        """
        WITH open AS MATERIALIZED (
            SELECT run.id, run.status, run.expand_at
            FROM pushfleet.run
            WHERE run.campaign_id = \(campaign.rawValue) AND run.status IN (1, 2) AND run.closed_at IS NULL
            ORDER BY run.id
            FOR UPDATE
        ),
        progress AS MATERIALIZED (
            SELECT p.run_id, p.expanded OR p.last_subscriber_id > 0 AS is_begun, p.shard
            FROM open
            JOIN pushfleet.run_progress p ON p.run_id = open.id
            FOR UPDATE OF p
        )
        SELECT open.id,
            open.status = 1 AND EXISTS (
                SELECT
                FROM progress
                JOIN pushfleet.batch b ON b.shard = progress.shard AND b.run_id = open.id
                WHERE progress.run_id = open.id AND (b.epoch > 0 OR b.due_at <= now())
            ),
            coalesce((SELECT bool_or(progress.is_begun) FROM progress WHERE progress.run_id = open.id), false)
        FROM open
        ORDER BY open.id
        """
    }
}
