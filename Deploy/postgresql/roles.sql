-- The roles of a fleet. Run it as a superuser in the fleet's database before the first `pushfleet migrate up`:
--
--     psql -d pushfleet -f Deploy/postgresql/roles.sql
--
-- A second time changes nothing. Logins have no password yet: \password fleet_worker, or certificates (pg_hba.conf).
--
--   fleet_owner      owns schema and tables: migrate, and whoever administers apps, credentials, campaigns, subscribers
--   fleet_scheduler  run --roles scheduler
--   fleet_worker     run --roles worker
--   fleet_janitor    run --roles janitor; drops days of deliveries through --owner-database
--   fleet_all        run with all roles in one process
--   fleet_reporter   the views of pushfleet_report and pushfleet.explain, nothing else
--   fleet_intake     intake: five functions, no table
--
-- Back ends bring logins of their own, which `pushfleet app grant APP LOGIN` lets call the SQL API for an app.
DO $$
DECLARE
    part text;
BEGIN
    -- What the migrations grant to.
    FOREACH part IN ARRAY ARRAY['scheduler', 'worker', 'janitor', 'reporter', 'caller', 'intake'] LOOP
        IF to_regrole('pushfleet_' || part) IS NULL THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', 'pushfleet_' || part);
        END IF;
    END LOOP;
    FOREACH part IN ARRAY ARRAY['owner', 'scheduler', 'worker', 'janitor', 'all', 'reporter', 'intake'] LOOP
        IF to_regrole('fleet_' || part) IS NULL THEN
            EXECUTE format('CREATE ROLE %I LOGIN', 'fleet_' || part);
        END IF;
    END LOOP;
    GRANT pushfleet_scheduler TO fleet_scheduler, fleet_all;
    GRANT pushfleet_worker TO fleet_worker, fleet_all;
    GRANT pushfleet_janitor TO fleet_janitor, fleet_all;
    GRANT pushfleet_reporter TO fleet_reporter;
    GRANT pushfleet_intake TO fleet_intake;
    -- Makes the schemas, and hands the SQL API to back ends.
    EXECUTE format('GRANT CREATE ON DATABASE %I TO fleet_owner', current_database());
    GRANT pushfleet_caller TO fleet_owner WITH ADMIN OPTION;
    -- Counting goes as far as no transaction may still write; the age of the oldest snapshot is a gauge.
    GRANT pg_read_all_stats TO fleet_owner, pushfleet_janitor;
END
$$;
