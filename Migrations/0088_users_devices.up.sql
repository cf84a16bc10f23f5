-- why: whether a user has a newer device costs one look-up, however many devices share the user
-- locks: subscriber: writers wait while the index is built, about a second for each million
-- safe with workers running: yes
-- lowest binary: 1

DROP INDEX pushfleet.subscriber_by_user;
CREATE INDEX subscriber_by_user ON pushfleet.subscriber (shard, app_id, user_id, registered_at, id)
WHERE user_id IS NOT NULL;
