"""FCM messages against firebase-admin's encoder, field by field; our OAuth assertion against google-auth.

Each row is a campaign's message and the same message as a user of the official server SDK writes it. What our preview
prints, which is what we send, must be equal JSON.
"""
# requires: firebase-admin google-auth

import base64
import datetime
import json
import os
import subprocess
import sys
import tempfile
import warnings
from unittest import mock

from firebase_admin import messaging
from firebase_admin._messaging_encoder import MessageEncoder
from google.auth import jwt
from google.oauth2 import service_account

# The SDK prefers installation ids; tokens are what apps have.
warnings.simplefilter("ignore", DeprecationWarning)
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PUSHFLEET = os.environ.get("PUSHFLEET_BINARY", os.path.join(ROOT, ".build", "debug", "pushfleet"))
TOKEN = "<registration token>"
TTL = 900
TEXTS = {"en": {"title": "Boarding", "body": "Gate B4 ⛴️"}, "_default": "en"}


def sent(message, delivery):
    """The message that our renderer makes, its one instant that depends on the clock taken out."""
    campaign = {
        "app": "ferry", "name": "Independent", "audience": {"all": True}, "message": message,
        "delivery": {"ttlSeconds": TTL, "collapseKey": "trip-88", "priority": "high", **delivery},
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(campaign, file)
        file.flush()
        environment = {k: v for k, v in os.environ.items() if k != "PUSHFLEET_DATABASE_URL"}
        output = subprocess.run(
            [PUSHFLEET, "campaign", "preview", file.name, "--language", "en", "--json"], env=environment,
            capture_output=True, text=True)
    if output.returncode != 0:
        sys.exit(f"preview refused {json.dumps(message)}:\n{output.stderr}")
    fcm = [request for request in json.loads(output.stdout) if request["transport"] == "fcm"][0]
    message = json.loads(fcm["body"])["message"]
    headers = message.get("apns", {}).get("headers", {})
    if "apns-expiration" in headers and headers["apns-expiration"] != "1774000900":
        headers["apns-expiration"] = "EXPIRY"
    return message


def android(notification=None, **fields):
    values = {"collapse_key": "trip-88", "priority": "high", "ttl": datetime.timedelta(seconds=TTL), **fields}
    return messaging.AndroidConfig(notification=notification, **values)


def shown(**fields):
    """What a notification message itself says on Android, with a row's fields over it."""
    return messaging.AndroidNotification(**{"tag": "trip-88", **fields})


def apns(aps=None, headers=None, image=None, custom=None, label=None):
    values = {"apns-priority": "10", "apns-expiration": "EXPIRY", "apns-collapse-id": "trip-88", **(headers or {})}
    options = messaging.APNSFCMOptions(image=image, analytics_label=label) if image or label else None
    payload = messaging.APNSPayload(messaging.Aps(**{"sound": "default", **(aps or {})}), **(custom or {}))
    return messaging.APNSConfig(headers=values, payload=payload, fcm_options=options)


def web(headers=None, options=None, **fields):
    return messaging.WebpushConfig(
        headers={"TTL": str(TTL), "Urgency": "high", "Topic": "trip-88", **(headers or {})},
        notification=messaging.WebpushNotification(**{"tag": "trip-88", **fields}), fcm_options=options)


def notification(overrides=None, content=None, presentation=None, data=None, **blocks):
    message = {"content": content or TEXTS}
    for key, value in (("presentation", presentation), ("data", data), ("overrides", overrides)):
        if value:
            message[key] = value
    parts = {"android": android(shown()), "apns": apns(), "webpush": web(), **blocks}
    extra = parts.pop("extra_data", {})
    return message, messaging.Message(
        token=TOKEN, data={"_id": "0-0", **(data or {}), **extra},
        notification=messaging.Notification(title="Boarding", body="Gate B4 ⛴️"), **parts)


LIGHT = {
    "color": {"red": 1.0, "green": 0.0, "blue": 0.0, "alpha": 1.0}, "lightOnDuration": "0.200s",
    "light_off_duration": "1s",
}
ANDROID_FIELDS = [
    # (field of the v1 message, our value, firebase-admin's argument, its value)
    ("title", "T", "title", "T"), ("body", "B", "body", "B"), ("icon", "ic_ferry", "icon", "ic_ferry"),
    ("color", "#0b6e99", "color", "#0b6e99"), ("sound", "horn", "sound", "horn"), ("tag", "t", "tag", "t"),
    ("image", "https://x.example/i.png", "image", "https://x.example/i.png"),
    ("click_action", "OPEN", "click_action", "OPEN"), ("body_loc_key", "k", "body_loc_key", "k"),
    ("title_loc_key", "k", "title_loc_key", "k"), ("channel_id", "c", "channel_id", "c"), ("ticker", "t", "ticker", "t"),
    ("sticky", True, "sticky", True), ("local_only", True, "local_only", True),
    ("event_time", "2031-03-01T08:30:00.000000Z", "event_timestamp", datetime.datetime(2031, 3, 1, 8, 30)),
    ("notification_priority", "PRIORITY_MAX", "priority", "max"),
    ("vibrate_timings", ["0s", "0.250000000s"], "vibrate_timings_millis", [0, 250]),
    ("default_vibrate_timings", True, "default_vibrate_timings", True),
    ("default_sound", True, "default_sound", True), ("default_light_settings", True, "default_light_settings", True),
    ("visibility", "SECRET", "visibility", "secret"), ("notification_count", 7, "notification_count", 7),
    ("proxy", "IF_PRIORITY_LOWERED", "proxy", "if_priority_lowered"),
]


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def rows():
    yield "nothing but texts", notification()
    for field, ours, argument, theirs in ANDROID_FIELDS:
        for spelling in {field, camel(field)}:
            yield f"android.notification.{spelling}", notification(
                {"android": {"notification": {spelling: ours}}}, android=android(shown(**{argument: theirs})))
    for name in ("title", "body"):
        yield f"android.notification.{name}_loc_args", notification(
            {"android": {"notification": {f"{name}_loc_key": "k", f"{name}LocArgs": ["a", "b"]}}},
            android=android(shown(**{f"{name}_loc_key": "k", f"{name}_loc_args": ["a", "b"]})))
    yield "android.notification.light_settings", notification(
        {"android": {"notification": {"light_settings": dict(LIGHT, lightOnDuration="0.200000000s")}}},
        android=android(shown(light_settings=messaging.LightSettings("#ff0000", 200, 1000))))
    for field, value in (("restricted_package_name", "a.b"), ("direct_boot_ok", True),
                         ("bandwidth_constrained_ok", True), ("restricted_satellite_ok", True)):
        yield f"android.{field}", notification(
            {"android": {field: value}}, android=android(shown(), **{field: value}))
    yield "android.collapse_key, priority, ttl", notification(
        {"android": {"collapseKey": "k", "priority": "normal", "ttl": "3.500000000s"}},
        android=android(shown(), collapse_key="k", priority="normal", ttl=datetime.timedelta(seconds=3.5)))
    yield "android.data", notification(
        {"android": {"data": {"a": "b"}}}, android=android(shown(), data={"a": "b", "_id": "0-0"}))
    yield "android.fcm_options", notification(
        {"android": {"fcmOptions": {"analyticsLabel": "w"}}},
        android=android(shown(), fcm_options=messaging.AndroidFCMOptions("w")))
    yield "apns.headers", notification(
        {"apns": {"headers": {"apns-priority": "5", "apns-expiration": "1774000900"}}},
        apns=apns(headers={"apns-priority": "5", "apns-expiration": "1774000900"}))
    alert = {
        "title": "T", "subtitle": "S", "body": "B", "loc-key": "l", "loc-args": ["a"], "title-loc-key": "t",
        "title-loc-args": ["b"], "action-loc-key": "x", "launch-image": "i",
    }
    yield "apns.payload", notification(
        {"apns": {"payload": {"aps": {
            "alert": alert, "badge": 3, "sound": {"critical": 1, "name": "n", "volume": 0.5}, "content-available": 1,
            "mutable-content": 1, "category": "c", "thread-id": "t", "own": {"a": [1]}}, "more": {"b": None}}}},
        apns=apns({
            "alert": messaging.ApsAlert(
                title="T", subtitle="S", body="B", loc_key="l", loc_args=["a"], title_loc_key="t", title_loc_args=["b"],
                action_loc_key="x", launch_image="i"),
            "badge": 3, "sound": messaging.CriticalSound("n", critical=True, volume=0.5), "content_available": True,
            "mutable_content": True, "category": "c", "thread_id": "t", "custom_data": {"own": {"a": [1]}},
        }, custom={"more": {"b": None}}))
    yield "apns.fcm_options", notification(
        {"apns": {"fcm_options": {"analytics_label": "w", "image": "https://x.example/i.png"}}},
        apns=apns(image="https://x.example/i.png", label="w"))
    live = notification({"apns": {"live_activity_token": "lat"}})
    live[1].apns.live_activity_token = "lat"
    yield "apns.live_activity_token", live
    yield "webpush.headers and data", notification(
        {"webpush": {"headers": {"urgency": "low", "x-own": "1"}, "data": {"a": "b"}}},
        webpush=messaging.WebpushConfig(
            headers={"TTL": str(TTL), "Topic": "trip-88", "urgency": "low", "x-own": "1"},
            data={"a": "b", "_id": "0-0"}, notification=messaging.WebpushNotification(tag="trip-88")))
    yield "webpush.notification", notification(
        {"webpush": {"notification": {
            "title": "T", "body": "B", "icon": "https://x.example/i", "badge": "https://x.example/b",
            "actions": [{"action": "a", "title": "A", "icon": "https://x.example/c"}], "data": {"k": [1]}, "dir": "rtl",
            "image": "https://x.example/d", "lang": "he", "renotify": True, "requireInteraction": True, "silent": True,
            "tag": "t", "timestamp": 1774000000000, "vibrate": [100, 200], "own": "x"}}},
        webpush=web(
            title="T", body="B", icon="https://x.example/i", badge="https://x.example/b",
            actions=[messaging.WebpushNotificationAction("a", "A", "https://x.example/c")], data={"k": [1]},
            direction="rtl", image="https://x.example/d", language="he", renotify=True, require_interaction=True,
            silent=True, tag="t", timestamp_millis=1774000000000, vibrate=[100, 200], custom_data={"own": "x"}))
    link = "https://ferry.example/trips/88"
    options = notification({"webpush": {"fcm_options": {"link": link, "analyticsLabel": "w"}}})
    options[1].webpush = web(options=messaging.WebpushFCMOptions(link=link))
    yield "webpush.fcm_options", options
    yield "content and presentation", notification(
        content={"en": {
            **TEXTS["en"], "image": "https://x.example/i.png", "url": link,
            "actions": [{"id": "pass", "title": "Show pass"}]}, "_default": "en"},
        presentation={
            "sound": "horn.caf", "badge": 2, "threadId": "t", "icon": "https://x.example/icon.png",
            "interruptionLevel": "time-sensitive", "relevanceScore": 0.8, "channelId": "boarding"},
        data={"screen": "trip"}, extra_data={"_url": link},
        android=android(shown(
            image="https://x.example/i.png", sound="horn.caf", notification_count=2, channel_id="boarding")),
        apns=apns({
            "sound": "horn.caf", "badge": 2, "thread_id": "t", "mutable_content": True,
            "custom_data": {"interruption-level": "time-sensitive", "relevance-score": 0.8}},
            image="https://x.example/i.png"),
        webpush=web(
            image="https://x.example/i.png", icon="https://x.example/icon.png",
            actions=[messaging.WebpushNotificationAction("pass", "Show pass")],
            options=messaging.WebpushFCMOptions(link=link)))


def data_rows():
    texts = {"id": "0-0", "title": "Boarding", "body": "Gate B4 ⛴️"}
    yield "a data message", {"content": TEXTS}, {}, messaging.Message(token=TOKEN, data=texts, android=android())
    yield "an analytics label", {"content": TEXTS}, {"analyticsLabel": "winter"}, messaging.Message(
        token=TOKEN, data=texts, android=android(), fcm_options=messaging.FCMOptions("winter"))
    yield "a silent data message", {"silent": True, "data": {"op": "x"}}, {"priority": "normal"}, messaging.Message(
        token=TOKEN, data={"id": "0-0", "silent": "1", "data": '{"op":"x"}'}, android=android(priority="normal"))




def check(name, ours, theirs):
    expected = json.loads(json.dumps(MessageEncoder().default(theirs)))
    if name == "webpush.fcm_options":
        expected["webpush"]["fcm_options"]["analytics_label"] = "w"  # the SDK has no argument for it
    if ours != expected:
        sys.exit(f"{name}\n ours:   {json.dumps(ours, sort_keys=True)}\n theirs: {json.dumps(expected, sort_keys=True)}")


def check_messages():
    count = 0
    for name, (message, theirs) in rows():
        check(name, sent(message, {"fcmMode": "notification"}), theirs)
        count += 1
    for name, message, delivery, theirs in data_rows():
        check(name, sent(message, delivery), theirs)
        count += 1
    return count


def check_assertion():
    with open(os.path.join(ROOT, "Tests", "TransportsTests", "Fixtures", "oauth-assertion.json")) as file:
        vector = json.load(file)["oauthAssertion"]
    issuer = "sender@ferry-test.iam.gserviceaccount.example"
    info = {
        "type": "service_account", "project_id": "ferry-test", "private_key_id": "0123456789abcdef",
        "private_key": vector["pem"], "client_email": issuer, "token_uri": "https://oauth2.googleapis.com/token",
    }
    credentials = service_account.Credentials.from_service_account_info(
        info, scopes=["https://www.googleapis.com/auth/firebase.messaging"])
    from cryptography.hazmat.primitives import serialization
    key = serialization.load_pem_private_key(vector["pem"].encode(), None).public_key()
    public = key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    now = datetime.datetime(2026, 3, 20, 9, 46, 40)  # 1774000000
    with mock.patch("google.auth._helpers.utcnow", return_value=now):
        # The test of our exchange holds what we sign to this very text.
        claims = jwt.decode(vector["assertion"], certs={"0123456789abcdef": public}, audience=info["token_uri"])
        theirs = jwt.decode(credentials._make_authorization_grant_assertion(), verify=False)
    if {**theirs, "exp": 0, "iat": 0} != {**claims, "exp": 0, "iat": 0} or claims["exp"] - claims["iat"] != 3600:
        sys.exit(f"assertion\n ours:   {claims}\n theirs: {theirs}")
    broken = vector["assertion"][:-8] + base64.urlsafe_b64encode(b"broken").decode()
    try:
        jwt.decode(broken, certs={"0123456789abcdef": public}, audience=info["token_uri"])
    except Exception:
        return
    sys.exit("a broken assertion was accepted")


if __name__ == "__main__":
    check_assertion()
    print(f"fcm: {check_messages()} messages equal to firebase-admin's, assertion accepted by google-auth")
