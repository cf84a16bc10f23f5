DROP INDEX pushfleet.subscriber_by_user;
CREATE INDEX subscriber_by_user ON pushfleet.subscriber (shard, app_id, user_id) WHERE user_id IS NOT NULL;
