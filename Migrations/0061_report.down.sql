DROP SCHEMA pushfleet_report CASCADE;
