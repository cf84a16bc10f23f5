-- why: a campaign may go to an FCM topic or condition, which FCM fans out: one job of an ordinary run
-- locks: campaign and subscriber, exclusively, for a moment: a column and an unchecked constraint
-- safe with workers running: yes
-- lowest binary: 1

ALTER TABLE pushfleet.campaign ADD COLUMN target_id bigint;
COMMENT ON COLUMN pushfleet.campaign.target_id IS
    'The one row of subscriber that stands for the topic or condition. It belongs to no app: its app_id is -target_id.';

-- A registration that looks like a topic would reach everybody on it.
ALTER TABLE pushfleet.subscriber ADD CONSTRAINT subscriber_is_no_topic CHECK (
    app_id < 0 OR transport <> 2 OR (left(address, 8) <> '/topics/' AND left(address, 10) <> 'condition:')
) NOT VALID;

CREATE FUNCTION pushfleet.make_campaign_target() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    target text;
BEGIN
    target := CASE
        WHEN jsonb_typeof(NEW.body -> 'audience' -> 'topic') = 'string'
        THEN '/topics/' || (NEW.body -> 'audience' ->> 'topic')
        WHEN jsonb_typeof(NEW.body -> 'audience' -> 'condition') = 'string'
        THEN 'condition:' || (NEW.body -> 'audience' ->> 'condition')
    END;
    IF target IS NULL THEN
        RETURN NEW;
    END IF;
    NEW.target_id := nextval(pg_get_serial_sequence('pushfleet.subscriber', 'id'));
    INSERT INTO pushfleet.subscriber (shard, id, app_id, transport, address)
    SELECT app.shards[1], NEW.target_id, -NEW.target_id, 2, target
    FROM pushfleet.app
    WHERE app.id = NEW.app_id;
    RETURN NEW;
END
$$;

CREATE TRIGGER campaign_has_target
BEFORE INSERT ON pushfleet.campaign
FOR EACH ROW EXECUTE FUNCTION pushfleet.make_campaign_target();
