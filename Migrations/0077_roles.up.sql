-- why: group roles for each part of the fleet, with the least that it needs
-- locks: catalogue rows of tables and functions, for a moment
-- safe with workers running: yes
-- lowest binary: 1

-- Roles belong to the whole cluster: another database may have made them, or be making them now.
DO $$
DECLARE
    wanted name;
BEGIN
    FOREACH wanted IN ARRAY '{pushfleet_worker,pushfleet_scheduler,pushfleet_janitor,pushfleet_reporter,pushfleet_caller}'::name[]
    LOOP
        BEGIN
            IF to_regrole(wanted) IS NULL THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            END IF;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                NULL;
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

-- Every role at its start and hourly.
GRANT EXECUTE ON FUNCTION pushfleet.ensure_days, pushfleet.ensure_standing_runs
    TO pushfleet_worker, pushfleet_scheduler, pushfleet_janitor;
GRANT SELECT ON pushfleet.app, pushfleet.bucket, pushfleet.batch, pushfleet.run, pushfleet.run_route,
    pushfleet.run_progress, pushfleet.retry, pushfleet.notification, pushfleet.route, pushfleet.credential,
    pushfleet.lane_clock, pushfleet.worker, pushfleet.job, pushfleet.content_version, pushfleet.subscriber
    TO pushfleet_worker, pushfleet_scheduler, pushfleet_janitor;
GRANT USAGE ON SEQUENCE pushfleet.batch_id_seq TO pushfleet_worker, pushfleet_scheduler, pushfleet_janitor;
GRANT EXECUTE ON FUNCTION pushfleet.joined(anycompatiblearray) TO pushfleet_worker, pushfleet_scheduler, pushfleet_janitor;

-- Worker: claims, sends, records. Sees no draft, no caller, no key of a caller.
GRANT INSERT, UPDATE ON pushfleet.batch, pushfleet.run_route, pushfleet.worker TO pushfleet_worker;
GRANT INSERT ON pushfleet.retry, pushfleet.job TO pushfleet_worker;
GRANT SELECT, INSERT ON pushfleet.delivery, pushfleet.attempt TO pushfleet_worker;
GRANT SELECT, INSERT, UPDATE ON pushfleet.access_token, pushfleet.answer_minute TO pushfleet_worker;
GRANT SELECT, INSERT ON pushfleet.token_change TO pushfleet_worker;
GRANT SELECT, UPDATE ON pushfleet.duty TO pushfleet_worker;
GRANT SELECT ON pushfleet.reason, pushfleet.rate_second TO pushfleet_worker;
-- UPDATE is what locking a row takes.
GRANT DELETE, UPDATE ON pushfleet.notification TO pushfleet_worker;
GRANT UPDATE ON pushfleet.route, pushfleet.credential TO pushfleet_worker;
GRANT UPDATE (state, state_since, evidence, environment, seen_at) ON pushfleet.subscriber TO pushfleet_worker;
GRANT EXECUTE ON FUNCTION pushfleet.pause_run, pushfleet.route_rate, pushfleet.take_slots TO pushfleet_worker;

-- Scheduler: makes runs, expands them, keeps the order.
GRANT SELECT, INSERT, UPDATE ON pushfleet.campaign TO pushfleet_scheduler;
GRANT INSERT, UPDATE ON pushfleet.run, pushfleet.run_progress, pushfleet.run_route, pushfleet.lane_clock, pushfleet.batch
    TO pushfleet_scheduler;
GRANT INSERT, DELETE ON pushfleet.content_version TO pushfleet_scheduler;
GRANT INSERT ON pushfleet.job TO pushfleet_scheduler;
GRANT SELECT, INSERT ON pushfleet.delivery TO pushfleet_scheduler;
GRANT UPDATE, DELETE ON pushfleet.retry TO pushfleet_scheduler;
GRANT UPDATE (state, paused_reason, paused_at, reopen_at, slow_rate, slow_until, slowed_at) ON pushfleet.route
    TO pushfleet_scheduler;
GRANT SELECT ON pushfleet.segment, pushfleet.template, pushfleet.time_zone, pushfleet.channel TO pushfleet_scheduler;
GRANT EXECUTE ON FUNCTION pushfleet.rotate_bucket, pushfleet.refresh_time_zones, pushfleet.local_time,
    pushfleet.local_instant, pushfleet.wave_at, pushfleet.test_place TO pushfleet_scheduler;

-- Janitor: rescues, settles, closes, judges addresses, clears away.
GRANT INSERT, UPDATE ON pushfleet.batch, pushfleet.run_route TO pushfleet_janitor;
GRANT UPDATE ON pushfleet.run TO pushfleet_janitor;
GRANT INSERT ON pushfleet.job TO pushfleet_janitor;
GRANT SELECT, INSERT ON pushfleet.delivery TO pushfleet_janitor;
GRANT UPDATE, DELETE ON pushfleet.retry, pushfleet.worker, pushfleet.subscriber TO pushfleet_janitor;
GRANT SELECT, INSERT, UPDATE ON pushfleet.run_total, pushfleet.token_wave TO pushfleet_janitor;
GRANT SELECT, UPDATE, DELETE ON pushfleet.answer_minute, pushfleet.token_change, pushfleet.rate_second
    TO pushfleet_janitor;
GRANT SELECT ON pushfleet.accounting, pushfleet.accounting_violation, pushfleet.reason, pushfleet.retention
    TO pushfleet_janitor;
GRANT EXECUTE ON FUNCTION pushfleet.pause_run, pushfleet.take_back, pushfleet.drop_bucket, pushfleet.rotate_bucket,
    pushfleet.forget_notifications, pushfleet.forget_old, pushfleet.expired_days, pushfleet.audit_next, pushfleet.fold,
    pushfleet.count_tokens, pushfleet.settled_until TO pushfleet_janitor;

-- Reporter: the views that show no address, key or attribute, and why somebody did or did not get something.
GRANT USAGE ON SCHEMA pushfleet_report TO pushfleet_reporter;
GRANT SELECT ON ALL TABLES IN SCHEMA pushfleet_report TO pushfleet_reporter;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pushfleet_report TO pushfleet_reporter;
GRANT EXECUTE ON FUNCTION pushfleet.explain TO pushfleet_reporter;

-- Caller: the SQL API, for the apps that it was granted.
GRANT EXECUTE ON FUNCTION pushfleet.notify, pushfleet.cancel_notification, pushfleet.check_message,
    pushfleet.schedule_campaign, pushfleet.pause, pushfleet.resume, pushfleet.stop, pushfleet.stopped,
    pushfleet.cancel, pushfleet.pause_app, pushfleet.resume_app, pushfleet.register_subscriber,
    pushfleet.unregister_subscriber TO pushfleet_caller;
