-- why: stored templates, Android channels, and which kind of FCM message an app's devices take
-- locks: app and content_version, exclusively, for a moment: columns without a rewrite
-- safe with workers running: yes
-- lowest binary: 1

-- A version is never changed: saving a template again makes the next one.
CREATE TABLE pushfleet.template (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app_id bigint NOT NULL,
    name text NOT NULL,
    version int NOT NULL,
    message jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (app_id, name, version),
    CONSTRAINT template_version CHECK (version > 0)
);

CREATE FUNCTION pushfleet.refuse_template_change() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'a template''s version cannot be changed' USING HINT = 'Save it again: that makes a new version.';
END
$$;

CREATE TRIGGER template_is_immutable
BEFORE UPDATE ON pushfleet.template
FOR EACH ROW EXECUTE FUNCTION pushfleet.refuse_template_change();

CREATE TABLE pushfleet.channel (
    app_id bigint NOT NULL,
    id text NOT NULL,
    name text NOT NULL,
    importance text NOT NULL,
    description text,
    sound text,
    vibration boolean,
    lights boolean,
    badge boolean,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id, id),
    CONSTRAINT channel_importance CHECK (importance IN ('none', 'min', 'low', 'default', 'high'))
);
COMMENT ON TABLE pushfleet.channel IS
    'Android channels: a push that names one describes it, so that the app can create it on the device.';

ALTER TABLE pushfleet.app ADD COLUMN fcm_mode smallint NOT NULL DEFAULT 0;
ALTER TABLE pushfleet.app ADD CONSTRAINT app_fcm_mode CHECK (fcm_mode IN (0, 1));
COMMENT ON COLUMN pushfleet.app.fcm_mode IS
    '0 data messages, drawn by the SDK in the app; 1 notification messages, drawn by FCM';

ALTER TABLE pushfleet.content_version ADD COLUMN app_id bigint;
ALTER TABLE pushfleet.content_version ADD COLUMN channel jsonb;
ALTER TABLE pushfleet.content_version ADD COLUMN template_id bigint;
COMMENT ON COLUMN pushfleet.content_version.channel IS
    'The app''s definition of the Android channel that the message names, as it was then.';
COMMENT ON COLUMN pushfleet.content_version.template_id IS 'Where the message was taken from.';

-- The message that a caller means: a template's newest version in the place of its name.
CREATE FUNCTION pushfleet.resolve_message(which_app bigint, said jsonb) RETURNS jsonb
LANGUAGE plpgsql
STABLE
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    found jsonb;
BEGIN
    IF NOT coalesce(jsonb_typeof(said) = 'object' AND said ? 'template', false) THEN
        RETURN said;
    END IF;
    SELECT template.message INTO found
    FROM pushfleet.template
    WHERE template.app_id = which_app AND template.name = said ->> 'template'
    ORDER BY template.version DESC
    LIMIT 1;
    IF found IS NULL THEN
        RAISE EXCEPTION 'message.template: the app has no template %', said -> 'template'
            USING ERRCODE = 'PF400', HINT = 'Save it first: pushfleet template save.';
    END IF;
    RETURN found;
END
$$;

-- Whoever writes a content version freezes with it what the app says of the message.
CREATE FUNCTION pushfleet.complete_content_version() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    resolved jsonb;
BEGIN
    NEW.app_id := coalesce(
        NEW.app_id,
        (SELECT c.app_id FROM pushfleet.campaign c WHERE c.id = NEW.campaign_id),
        (SELECT run.app_id FROM pushfleet.run WHERE run.id = (to_jsonb(NEW) ->> 'standing_run')::bigint));
    IF NEW.app_id IS NULL THEN
        RETURN NEW;
    END IF;
    resolved := pushfleet.resolve_message(NEW.app_id, NEW.message);
    IF resolved <> NEW.message THEN
        -- Found again by what it was called, it would outlive the template's next version.
        IF to_jsonb(NEW) ? 'digest' THEN
            NEW.digest := NULL;
        END IF;
        NEW.message := resolved;
    END IF;
    IF NEW.channel IS NULL THEN
        NEW.channel := (
            SELECT jsonb_strip_nulls(jsonb_build_object(
                'id', channel.id, 'name', channel.name, 'importance', channel.importance,
                'description', channel.description, 'sound', channel.sound, 'vibration', channel.vibration,
                'lights', channel.lights, 'badge', channel.badge))
            FROM pushfleet.channel
            WHERE channel.app_id = NEW.app_id AND channel.id = NEW.message #>> '{presentation,channelId}'
        );
    END IF;
    IF NOT NEW.delivery ? 'fcmMode' AND EXISTS (
        SELECT FROM pushfleet.app WHERE app.id = NEW.app_id AND app.fcm_mode = 1
    ) THEN
        NEW.delivery := NEW.delivery || '{"fcmMode": "notification"}';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER content_version_completes
BEFORE INSERT ON pushfleet.content_version
FOR EACH ROW EXECUTE FUNCTION pushfleet.complete_content_version();
