DROP INDEX pushfleet.batch_holding;
DROP INDEX pushfleet.batch_claimable;
