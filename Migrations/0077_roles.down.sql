-- The roles themselves stay: they belong to the cluster, and may have been there before.
DO $$
DECLARE
    known name;
BEGIN
    FOREACH known IN ARRAY ARRAY[
        'pushfleet_scheduler', 'pushfleet_worker', 'pushfleet_janitor', 'pushfleet_reporter', 'pushfleet_caller'
    ]::name[]
    LOOP
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA pushfleet, pushfleet_report FROM %I', known);
        EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA pushfleet FROM %I', known);
        EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pushfleet, pushfleet_report FROM %I', known);
        EXECUTE format('REVOKE ALL ON SCHEMA pushfleet, pushfleet_report FROM %I', known);
    END LOOP;
END
$$;
ALTER FUNCTION pushfleet.ensure_days SECURITY INVOKER;
ALTER FUNCTION pushfleet.rotate_bucket SECURITY INVOKER;
ALTER FUNCTION pushfleet.drop_bucket SECURITY INVOKER;
ALTER FUNCTION pushfleet.ensure_standing_runs SECURITY INVOKER;
ALTER FUNCTION pushfleet.refresh_time_zones SECURITY INVOKER;
ALTER FUNCTION pushfleet.take_slots SECURITY INVOKER;
ALTER FUNCTION pushfleet.take_back SECURITY INVOKER;
ALTER FUNCTION pushfleet.forget_notifications SECURITY INVOKER;
ALTER FUNCTION pushfleet.forget_old SECURITY INVOKER;
ALTER FUNCTION pushfleet.expired_days SECURITY INVOKER;
ALTER FUNCTION pushfleet.audit_next SECURITY INVOKER;
ALTER FUNCTION pushfleet.fold SECURITY INVOKER;
ALTER FUNCTION pushfleet.count_tokens SECURITY INVOKER;
ALTER FUNCTION pushfleet.complete_content_version SECURITY INVOKER;
ALTER FUNCTION pushfleet.make_campaign_target SECURITY INVOKER;
GRANT EXECUTE ON FUNCTION pushfleet.accept_tokens, pushfleet.audit, pushfleet.complete_content_version,
    pushfleet.drop_bucket, pushfleet.ensure_day, pushfleet.ensure_days, pushfleet.joined(anycompatiblearray),
    pushfleet.local_instant, pushfleet.local_time, pushfleet.make_campaign_target, pushfleet.refresh_time_zones,
    pushfleet.refuse_template_change, pushfleet.resolve_message, pushfleet.restore_tokens, pushfleet.rotate_bucket,
    pushfleet.route_rate, pushfleet.take_slots, pushfleet.test_place, pushfleet.wave_at,
    pushfleet_report.outcome_name, pushfleet_report.run_status_name, pushfleet_report.token_state_name,
    pushfleet_report.transport_name TO PUBLIC;
