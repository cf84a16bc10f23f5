CREATE INDEX retry_due ON pushfleet.retry (shard, due_at);
DROP INDEX pushfleet.retry_by_pair;
