-- why: what the content model says of texts, links, placeholders and language tags, decided by the database
-- locks: none
-- safe with workers running: yes
-- lowest binary: 1

-- Unicode's White_Space property and nothing else.
CREATE FUNCTION pushfleet.white_space() RETURNS text
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
SET search_path = pushfleet, pg_temp
AS $$
    SELECT E'\u0009\u000A\u000B\u000C\u000D \u0085\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007'
        '\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000'
$$;

CREATE FUNCTION pushfleet.is_blank(value text) RETURNS boolean
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
SET search_path = pushfleet, pg_temp
AS $$
    SELECT btrim(value, pushfleet.white_space()) = ''
$$;

-- At least so many characters, as a person counts them, has the text; what it has more only a full segmentation knows.
-- Everything that can join what stands before or after it is taken out (UAX #29): pairs of flags' letters, Hangul jamo,
-- what a joiner or a virama binds, marks, modifiers, and scripts whose marks newer Unicode versions add to.
CREATE FUNCTION pushfleet.least_characters(value text) RETURNS int
LANGUAGE plpgsql
IMMUTABLE PARALLEL SAFE
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    marks CONSTANT text := '[' ||
        '\u0300-\u036F\u0483-\u0489\u0591-\u05BD\u05BF\u05C1-\u05C2\u05C4-\u05C5\u05C7\u0600-\u0605'
        '\u0610-\u061A\u064B-\u065F\u0670\u06D6-\u06DD\u06DF-\u06E4\u06E7-\u06E8\u06EA-\u06ED\u070F\u0711'
        '\u0730-\u074A\u07A6-\u07B0\u07EB-\u07F3\u07FD\u0816-\u0819\u081B-\u0823\u0825-\u0827\u0829-\u082D'
        '\u0859-\u085B\u0890-\u089F\u08CA-\u0903\u093A-\u093C\u093E-\u094F\u0951-\u0957\u0962-\u0963'
        '\u0981-\u0983\u09BC\u09BE-\u09CD\u09D7\u09E2-\u09E3\u09FE-\u0A03\u0A3C-\u0A51\u0A70-\u0A71\u0A75'
        '\u0A81-\u0A83\u0ABC\u0ABE-\u0ACD\u0AE2-\u0AE3\u0AFA-\u0B03\u0B3C\u0B3E-\u0B57\u0B62-\u0B63\u0B82'
        '\u0BBE-\u0BCD\u0BD7\u0C00-\u0C04\u0C3C\u0C3E-\u0C56\u0C62-\u0C63\u0C81-\u0C83\u0CBC\u0CBE-\u0CD6'
        '\u0CE2-\u0CE3\u0CF3-\u0D03\u0D3B-\u0D3C\u0D3E-\u0D4E\u0D57\u0D62-\u0D63\u0D81-\u0D83\u0DCA-\u0DDF'
        '\u0DF2-\u0DF3\u0E31\u0E33-\u0E3A\u0E47-\u0E4E\u0EB1\u0EB3-\u0EBC\u0EC8-\u0ECE\u0F18-\u0F19\u0F35'
        '\u0F37\u0F39\u0F3E-\u0F3F\u0F71-\u0F84\u0F86-\u0F87\u0F8D-\u0FBC\u0FC6\u102B-\u103E\u1056-\u1059'
        '\u105E-\u1060\u1062-\u1064\u1067-\u106D\u1071-\u1074\u1082-\u108D\u108F\u109A-\u109D\u1160-\u11FF'
        '\u135D-\u135F\u1712-\u1715\u1732-\u1734\u1752-\u1753\u1772-\u1773\u17B4-\u17D3\u17DD\u180B-\u180D'
        '\u180F\u1885-\u1886\u18A9\u1920-\u193B\u1A17-\u1A1B\u1A55-\u1A7F\u1AB0-\u1B04\u1B34-\u1B44'
        '\u1B6B-\u1B73\u1B80-\u1B82\u1BA1-\u1BAD\u1BE6-\u1BF3\u1C24-\u1C37\u1CD0-\u1CD2\u1CD4-\u1CE8\u1CED'
        '\u1CF4\u1CF7-\u1CF9\u1DC0-\u1DFF\u200C-\u200D\u20D0-\u20F0\u2CEF-\u2CF1\u2D7F\u2DE0-\u2DFF'
        '\u302A-\u302F\u3099-\u309A\uA66F-\uA672\uA674-\uA67D\uA69E-\uA69F\uA6F0-\uA6F1\uA802\uA806\uA80B'
        '\uA823-\uA827\uA82C\uA880-\uA881\uA8B4-\uA8C5\uA8E0-\uA8F1\uA8FF\uA926-\uA92D\uA947-\uA953'
        '\uA980-\uA983\uA9B3-\uA9C0\uA9E5\uAA29-\uAA36\uAA43\uAA4C-\uAA4D\uAA7B-\uAA7D\uAAB0\uAAB2-\uAAB4'
        '\uAAB7-\uAAB8\uAABE-\uAABF\uAAC1\uAAEB-\uAAEF\uAAF5-\uAAF6\uABE3-\uABEA\uABEC-\uABED\uD7B0-\uD7FF'
        '\uFB1E\uFE00-\uFE0F\uFE20-\uFE2F\uFF9E-\uFF9F\U000101FD\U000102E0\U00010376-\U0001037A'
        '\U00010A00-\U00010A5F\U00010AE5-\U00010AE6\U00010D00-\U00010DFF\U00010E80-\U00011FFF'
        '\U00013430-\U0001345F\U00016100-\U0001613F\U00016A00-\U00016FFF\U0001BC00-\U0001CFFF'
        '\U0001D160-\U0001D1FF\U0001D240-\U0001D24F\U0001DA00-\U0001DAFF\U0001E000-\U0001E95F'
        '\U0001F3FB-\U0001F3FF\U000E0000-\U000E0FFF' || ']';
    viramas CONSTANT text := '[' ||
        '\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D3B-\u0D3C\u0D4D\u0DCA\u0E3A\u0EBA\u0F84'
        '\u1039-\u103A\u1714-\u1715\u1734\u17D2\u1A60\u1B44\u1BAA-\u1BAB\u1BF2-\u1BF3\u2D7F\uA806\uA82C\uA8C4'
        '\uA953\uA9C0\uAAF6\uABED' || ']';
    rest text := value;
BEGIN
    rest := replace(rest, E'\r\n', 'x');
    rest := regexp_replace(rest, '[\U0001F1E6-\U0001F1FF]{2}', 'x', 'g');
    rest := regexp_replace(rest, '[\u1100-\u115F\uA960-\uA97C]+[\uAC00-\uD7A3\u1160-\u11A7\uD7B0-\uD7C6]?', 'x', 'g');
    rest := regexp_replace(rest, '(\u200D|' || viramas || ')' || marks || '*.', '', 'g');
    rest := regexp_replace(rest, marks, '', 'g');
    RETURN char_length(rest);
END
$$;
COMMENT ON FUNCTION pushfleet.least_characters IS 'Never more than the extended grapheme clusters of the text.';

-- A text of more than 16,384 bytes is too long whatever it counts.
CREATE FUNCTION pushfleet.is_too_long(value text, at_most int) RETURNS boolean
LANGUAGE plpgsql
IMMUTABLE PARALLEL SAFE
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    IF octet_length(value) > 16384 THEN
        RETURN true;
    END IF;
    RETURN char_length(value) > at_most AND pushfleet.least_characters(value) > at_most;
END
$$;

-- One row for each two opening braces that begin something: the placeholder's inside, or NULL where it is malformed.
CREATE FUNCTION pushfleet.placeholders(value text) RETURNS SETOF text
LANGUAGE plpgsql
IMMUTABLE PARALLEL SAFE
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT part[1]
    FROM regexp_matches(
        value,
        '\{\{([ \t]*[A-Za-z_][A-Za-z0-9_.-]{0,63}[ \t]*(?:\|(?:[^}]|\}(?!\}))*)?\}\})?', 'g') AS part
    WHERE strpos(value, '{{') > 0;
END
$$;

-- `invalid`, `too_long`, or NULL: it may be opened. RFC 3986 section 3.1, and a host where http needs one.
CREATE FUNCTION pushfleet.link_fault(link text) RETURNS text
LANGUAGE plpgsql
IMMUTABLE PARALLEL SAFE
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    scheme text := lower(substring(link FROM '^([A-Za-z][A-Za-z0-9+.-]*):') COLLATE "C");
BEGIN
    IF pushfleet.is_too_long(link, 2048) THEN
        RETURN 'too_long';
    END IF;
    IF scheme IS NULL
        OR scheme IN ('javascript', 'data', 'vbscript', 'file')
        OR translate(link, pushfleet.white_space(), '') <> link
        OR scheme IN ('http', 'https')
            AND substr(link, char_length(scheme) + 2) !~ '^//([^/?#]*@)?[^/?#@:][^/?#@]*([/?#]|$)'
    THEN
        RETURN 'invalid';
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION pushfleet.is_image_link(link text) RETURNS boolean
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
SET search_path = pushfleet, pg_temp
AS $$
    SELECT lower(left(link, 6) COLLATE "C") = 'https:' AND pushfleet.link_fault(link) IS NULL
$$;

-- An author's language key in the form that is compared: ASCII lower case, `-`, old codes replaced. NULL: malformed.
CREATE FUNCTION pushfleet.language_key(key text) RETURNS text
LANGUAGE plpgsql
IMMUTABLE PARALLEL SAFE
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    languages CONSTANT jsonb := '{
        "iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro", "tl": "fil", "sh": "sr", "cmn": "zh"
    }';
    regions CONSTANT jsonb := '{
        "uk": "gb", "bu": "mm", "dd": "de", "fx": "fr", "tp": "tl", "vd": "vn", "yd": "ye", "zr": "cd"
    }';
    parts text[];
    said text;
BEGIN
    IF char_length(key) > 35 OR key !~ '^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$' THEN
        RETURN NULL;
    END IF;
    parts := string_to_array(lower(translate(key, '_', '-') COLLATE "C"), '-');
    said := coalesce(languages ->> parts[1], parts[1]);
    IF parts[1] = 'sh' AND coalesce(parts[2] !~ '^[a-z]{4}$', true) THEN
        said := 'sr-latn';
    END IF;
    FOR place IN 2 .. cardinality(parts) LOOP
        EXIT WHEN char_length(parts[place]) = 1;
        parts[place] := coalesce(regions ->> parts[place], parts[place]);
    END LOOP;
    parts[1] := said;
    RETURN array_to_string(parts, '-');
END
$$;

-- RFC 3339 with an offset, as the campaign reader takes it: no leap second, no 24:00, no day that a month has not.
CREATE FUNCTION pushfleet.is_instant(value text) RETURNS boolean
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
SET search_path = pushfleet, pg_temp
AS $$
    SELECT coalesce(
        value ~ ('^[0-9]{4}-(0[1-9]|1[0-2])-[0-9]{2}[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]+)?'
            '([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$')
        AND CASE WHEN value ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}' THEN
            substr(value, 9, 2)::int BETWEEN 1 AND CASE substr(value, 6, 2)
                WHEN '02' THEN CASE
                    WHEN substr(value, 1, 4)::int % 4 = 0
                        AND (substr(value, 1, 4)::int % 100 <> 0 OR substr(value, 1, 4)::int % 400 = 0) THEN 29
                    ELSE 28
                END
                WHEN '04' THEN 30 WHEN '06' THEN 30 WHEN '09' THEN 30 WHEN '11' THEN 30
                ELSE 31
            END
        END, false)
$$;

-- A member's step of a JSON pointer (RFC 6901).
CREATE FUNCTION pushfleet.pointer_step(key text) RETURNS text
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
SET search_path = pushfleet, pg_temp
AS $$
    SELECT '/' || replace(replace(key, '~', '~0'), '/', '~1')
$$;

REVOKE ALL ON FUNCTION pushfleet.white_space, pushfleet.is_blank, pushfleet.least_characters, pushfleet.is_too_long,
    pushfleet.placeholders, pushfleet.link_fault, pushfleet.is_image_link, pushfleet.language_key,
    pushfleet.is_instant, pushfleet.pointer_step FROM PUBLIC;
