-- why: group roles for each part of the fleet, with the least that it needs
-- locks: catalogue rows of tables and functions, for a moment
-- safe with workers running: yes
-- lowest binary: 1

-- Roles belong to the whole cluster: somebody else may have made them, or be making them now.
DO $$
DECLARE
    wanted name;
BEGIN
    FOREACH wanted IN ARRAY ARRAY[
        'pushfleet_scheduler', 'pushfleet_worker', 'pushfleet_janitor', 'pushfleet_reporter', 'pushfleet_caller'
    ]::name[]
    LOOP
        BEGIN
            IF to_regrole(wanted) IS NULL THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            END IF;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                NULL;
            WHEN insufficient_privilege THEN
                RAISE EXCEPTION 'there is no role %, and % may not create it', wanted, current_user
                    USING ERRCODE = 'insufficient_privilege',
                        HINT = 'Run Deploy/postgresql/roles.sql in this database, as a superuser.';
        END;
    END LOOP;
    BEGIN
        -- The oldest snapshot is a gauge: other roles' sessions are seen with this alone.
        IF NOT pg_has_role('pushfleet_janitor', 'pg_read_all_stats', 'MEMBER') THEN
            GRANT pg_read_all_stats TO pushfleet_janitor;
        END IF;
    EXCEPTION
        WHEN insufficient_privilege OR unique_violation THEN
            RAISE NOTICE 'pushfleet_janitor sees its own sessions only: GRANT pg_read_all_stats TO pushfleet_janitor';
    END;
    IF to_regclass('pushfleet.migration') IS NOT NULL THEN
        GRANT SELECT ON pushfleet.migration TO pushfleet_worker, pushfleet_scheduler, pushfleet_janitor;
    END IF;
END
$$;

-- What makes and drops tables, and what sums up tables that its callers need not see, runs as the owner.
ALTER FUNCTION pushfleet.ensure_days SECURITY DEFINER;
ALTER FUNCTION pushfleet.rotate_bucket SECURITY DEFINER;
ALTER FUNCTION pushfleet.drop_bucket SECURITY DEFINER;
ALTER FUNCTION pushfleet.ensure_standing_runs SECURITY DEFINER;
ALTER FUNCTION pushfleet.refresh_time_zones SECURITY DEFINER;
ALTER FUNCTION pushfleet.take_slots SECURITY DEFINER;
ALTER FUNCTION pushfleet.take_back SECURITY DEFINER;
ALTER FUNCTION pushfleet.forget_notifications SECURITY DEFINER;
ALTER FUNCTION pushfleet.forget_old SECURITY DEFINER;
ALTER FUNCTION pushfleet.expired_days SECURITY DEFINER;
ALTER FUNCTION pushfleet.audit_next SECURITY DEFINER;
ALTER FUNCTION pushfleet.fold SECURITY DEFINER;
ALTER FUNCTION pushfleet.count_tokens SECURITY DEFINER;
ALTER FUNCTION pushfleet.complete_content_version SECURITY DEFINER;
ALTER FUNCTION pushfleet.make_campaign_target SECURITY DEFINER;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pushfleet FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pushfleet_report FROM PUBLIC;
REVOKE ALL ON SCHEMA pushfleet, pushfleet_report FROM PUBLIC;
GRANT USAGE ON SCHEMA pushfleet TO pushfleet_worker, pushfleet_scheduler, pushfleet_janitor, pushfleet_caller,
    pushfleet_reporter;

-- Each part of the fleet: partitions and standing runs ahead of time, the queue's own tables.
GRANT EXECUTE ON FUNCTION pushfleet.ensure_days, pushfleet.ensure_standing_runs
    TO pushfleet_worker, pushfleet_scheduler, pushfleet_janitor;
GRANT SELECT ON pushfleet.app, pushfleet.bucket, pushfleet.batch, pushfleet.run_route
    TO pushfleet_worker, pushfleet_scheduler, pushfleet_janitor;
GRANT USAGE ON SEQUENCE pushfleet.batch_id_seq TO pushfleet_worker, pushfleet_scheduler, pushfleet_janitor;

-- Worker: claims, sends, records. Of a run its terms, not its audience; of a subscriber its address and what fills in
-- placeholders, not who it is; no draft, no campaign, no caller.
GRANT SELECT (
    id, app_id, status, lane, in_doubt, announce_window, max_attempts, rate, content_version, variant_versions,
    retry_horizon
) ON pushfleet.run TO pushfleet_worker;
GRANT SELECT (id, message, delivery, channel) ON pushfleet.content_version TO pushfleet_worker;
GRANT SELECT (
    shard, id, app_id, transport, service, state, environment, address_version, registered_at, address, p256dh, auth,
    language, attributes, vapid_credential
) ON pushfleet.subscriber TO pushfleet_worker;
GRANT UPDATE (state, state_since, evidence, environment) ON pushfleet.subscriber TO pushfleet_worker;
GRANT SELECT ON pushfleet.lane_clock, pushfleet.route, pushfleet.rate_second, pushfleet.credential, pushfleet.job,
    pushfleet.notification, pushfleet.worker, pushfleet.duty
    TO pushfleet_worker;
GRANT INSERT, UPDATE ON pushfleet.batch, pushfleet.worker TO pushfleet_worker;
GRANT INSERT, UPDATE (low_tag) ON pushfleet.run_route TO pushfleet_worker;
GRANT INSERT ON pushfleet.job, pushfleet.retry, pushfleet.attempt, pushfleet.delivery, pushfleet.token_change
    TO pushfleet_worker;
GRANT SELECT (batch_id) ON pushfleet.delivery TO pushfleet_worker;
GRANT SELECT, INSERT, UPDATE ON pushfleet.access_token, pushfleet.answer_minute TO pushfleet_worker;
GRANT UPDATE (holder, held_until) ON pushfleet.duty TO pushfleet_worker;
-- Some UPDATE is what locking a row takes.
GRANT DELETE, UPDATE (due_at) ON pushfleet.notification TO pushfleet_worker;
GRANT UPDATE (state, paused_reason, paused_at, trips, reopen_at, slow_rate, slow_until, slowed_at)
    ON pushfleet.route TO pushfleet_worker;
GRANT UPDATE (state, state_reason, state_since, state_detail, fault_fingerprint, revision)
    ON pushfleet.credential TO pushfleet_worker;
GRANT EXECUTE ON FUNCTION pushfleet.pause_run, pushfleet.route_rate, pushfleet.take_slots TO pushfleet_worker;

-- Scheduler: makes runs, expands them, keeps the order. Sees who is reached, not where.
GRANT SELECT ON pushfleet.campaign, pushfleet.run, pushfleet.run_progress, pushfleet.route, pushfleet.lane_clock,
    pushfleet.retry, pushfleet.content_version, pushfleet.segment, pushfleet.template,
    pushfleet.time_zone
    TO pushfleet_scheduler;
GRANT SELECT (
    shard, id, app_id, transport, service, state, registered_at, seen_at, external_id, user_id, language, time_zone,
    tags, attributes
) ON pushfleet.subscriber TO pushfleet_scheduler;
GRANT SELECT (id, state) ON pushfleet.credential TO pushfleet_scheduler;
GRANT UPDATE (state, next_at, problems) ON pushfleet.campaign TO pushfleet_scheduler;
GRANT INSERT, DELETE ON pushfleet.content_version TO pushfleet_scheduler;
GRANT INSERT, UPDATE (due_at, expand_at, audience_as_of) ON pushfleet.run TO pushfleet_scheduler;
GRANT INSERT, UPDATE ON pushfleet.run_progress, pushfleet.run_route, pushfleet.lane_clock, pushfleet.batch
    TO pushfleet_scheduler;
GRANT INSERT ON pushfleet.job, pushfleet.delivery TO pushfleet_scheduler;
GRANT SELECT (batch_id, subscriber_id) ON pushfleet.delivery TO pushfleet_scheduler;
GRANT SELECT (batch_id, subscriber_id, ordinal) ON pushfleet.job TO pushfleet_scheduler;
GRANT DELETE, UPDATE (due_at) ON pushfleet.retry TO pushfleet_scheduler;
GRANT UPDATE (state, paused_reason, paused_at, reopen_at, slow_rate, slow_until, slowed_at)
    ON pushfleet.route TO pushfleet_scheduler;
GRANT EXECUTE ON FUNCTION pushfleet.joined(anycompatiblearray), pushfleet.rotate_bucket, pushfleet.refresh_time_zones,
    pushfleet.local_time, pushfleet.local_instant, pushfleet.wave_at, pushfleet.test_place
    TO pushfleet_scheduler;

-- Janitor: rescues, settles, closes, judges addresses by what was said of them, counts, clears away.
GRANT SELECT (id, app_id, status, lane, standing, in_doubt, due_at, closed_at) ON pushfleet.run TO pushfleet_janitor;
GRANT UPDATE (status, closed_at) ON pushfleet.run TO pushfleet_janitor;
GRANT SELECT (id, variant) ON pushfleet.content_version TO pushfleet_janitor;
GRANT SELECT (id, wave_share, wave_least) ON pushfleet.credential TO pushfleet_janitor;
GRANT SELECT (shard, id, address_version, state, state_since) ON pushfleet.subscriber TO pushfleet_janitor;
GRANT DELETE, UPDATE (state, state_since) ON pushfleet.subscriber TO pushfleet_janitor;
GRANT SELECT ON pushfleet.run_progress, pushfleet.job, pushfleet.notification, pushfleet.worker, pushfleet.accounting,
    pushfleet.accounting_violation
    TO pushfleet_janitor;
GRANT INSERT, UPDATE ON pushfleet.batch TO pushfleet_janitor;
GRANT UPDATE (low_tag) ON pushfleet.run_route TO pushfleet_janitor;
GRANT INSERT ON pushfleet.job, pushfleet.delivery, pushfleet.run_total TO pushfleet_janitor;
GRANT SELECT (batch_id, outcome) ON pushfleet.delivery TO pushfleet_janitor;
GRANT SELECT (run_id) ON pushfleet.run_total TO pushfleet_janitor;
GRANT SELECT, DELETE, UPDATE (due_at) ON pushfleet.retry TO pushfleet_janitor;
GRANT DELETE, UPDATE (sighted_by, sighted_first_at, sighted_last_at) ON pushfleet.worker TO pushfleet_janitor;
GRANT SELECT, INSERT, UPDATE ON pushfleet.token_wave TO pushfleet_janitor;
GRANT SELECT, DELETE, UPDATE (verdict, verdict_at) ON pushfleet.token_change TO pushfleet_janitor;
GRANT SELECT, DELETE ON pushfleet.answer_minute TO pushfleet_janitor;
GRANT DELETE, SELECT (at_second) ON pushfleet.rate_second TO pushfleet_janitor;
GRANT EXECUTE ON FUNCTION pushfleet.pause_run, pushfleet.take_back, pushfleet.drop_bucket,
    pushfleet.forget_notifications, pushfleet.forget_old, pushfleet.expired_days, pushfleet.audit_next,
    pushfleet.fold, pushfleet.count_tokens
    TO pushfleet_janitor;
-- Its gauges are the report's.
GRANT USAGE ON SCHEMA pushfleet_report TO pushfleet_janitor;
GRANT SELECT ON pushfleet_report.queue, pushfleet_report.credentials TO pushfleet_janitor;
GRANT EXECUTE ON FUNCTION pushfleet_report.transport_name TO pushfleet_janitor;

-- Reporter: the views that show no address, key or attribute, and why somebody did or did not get something.
GRANT USAGE ON SCHEMA pushfleet_report TO pushfleet_reporter;
GRANT SELECT ON ALL TABLES IN SCHEMA pushfleet_report TO pushfleet_reporter;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pushfleet_report TO pushfleet_reporter;
GRANT EXECUTE ON FUNCTION pushfleet.explain TO pushfleet_reporter;

-- Caller: the SQL API, for the apps that it was granted.
GRANT EXECUTE ON FUNCTION pushfleet.notify, pushfleet.cancel_notification, pushfleet.check_message,
    pushfleet.schedule_campaign, pushfleet.pause, pushfleet.resume, pushfleet.cancel, pushfleet.pause_app,
    pushfleet.resume_app, pushfleet.register_subscriber, pushfleet.unregister_subscriber
    TO pushfleet_caller;
