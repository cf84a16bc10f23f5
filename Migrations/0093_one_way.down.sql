DROP INDEX pushfleet.batch_expirable;
DROP INDEX pushfleet.batch_promotable;
DROP INDEX pushfleet.batch_holding;
DROP INDEX pushfleet.batch_claimable;
