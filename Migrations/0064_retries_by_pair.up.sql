-- why: the due retries of one pair are found without stepping over those of every other, such as a paused run's
-- locks: retry, against writes, while the index is built
-- safe with workers running: yes
-- lowest binary: 1

CREATE INDEX retry_by_pair ON pushfleet.retry (shard, run_id, route_id, due_at);
DROP INDEX pushfleet.retry_due;
