DROP FUNCTION pushfleet.audit(bigint);
DROP VIEW pushfleet.accounting_violation;
DROP VIEW pushfleet.accounting;
DROP VIEW pushfleet.accounting_shard;
