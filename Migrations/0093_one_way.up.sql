-- why: while a snapshot is held, indexes fill with what is dead; with few live rows the planner takes them for dear, and reads all
-- locks: batch, against writes, while two small indexes are built
-- safe with workers running: yes
-- lowest binary: 1

-- Of an index with few live rows, the planner believes that each is spread over all its pages. After minutes of a held
-- snapshot a claim seemed dearer by its own index than by another one, whose every dead entry it then read: 0.3 s instead
-- of 0.2 ms. Claim and flush ask by expressions that no other index has, so that there is one way.
CREATE INDEX batch_claimable ON pushfleet.batch ((shard + 0), (run_id + 0), (route_id + 0), tag) WHERE state + 0 = 0;
CREATE INDEX batch_holding ON pushfleet.batch ((shard + 0), holder, claim_no) WHERE state + 0 = 1;
