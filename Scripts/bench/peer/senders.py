"""Sender libraries, pointed at the simulator: senders.py NAME --state DIRECTORY --url URL --addresses FILE --count N

Prints as JSON how many were accepted and what the sending took, in wall and CPU seconds, start-up left out. The text is
the demo campaign's, made ready once: rendering is not these libraries' work.
"""
import argparse
import asyncio
import json
import os
import ssl
import time

TITLE, BODY = "Boarding opens soon", "Zoë, gate 17 opens in 10 minutes."
DATA = {"title": TITLE, "body": BODY, "url": "https://ferry.example/trip?gate=17", "screen": "trip", "sound": "default",
        "lang": "en"}
SCOPES = ["https://www.googleapis.com/auth/firebase.messaging"]


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--state", required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--addresses", required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--window", type=int, default=200, help="messages under way at a time")
    return parser.parse_args()


def service_account(state):
    """Google's credentials, made out to the simulator's token endpoint: the library takes the audience from a constant."""
    from google.oauth2 import service_account as library
    path = os.path.join(state, "service-account.json")
    with open(path, encoding="utf-8") as file:
        endpoint = json.load(file)["token_uri"]
    library._GOOGLE_OAUTH2_TOKEN_ENDPOINT = endpoint
    return library.Credentials.from_service_account_file(path, scopes=SCOPES), endpoint


class FirebaseAdmin:
    """Google's own, asynchronous and HTTP/2 (httpx). Its token comes by HTTP/1.1, which the simulator does not speak: by
    httpx, too, then."""

    def __init__(self, state, url):
        import datetime

        import firebase_admin
        import httpx
        from firebase_admin import credentials, messaging
        from google.auth.credentials import Credentials
        account, endpoint = service_account(state)

        class Token(Credentials):
            def refresh(self, request):
                with httpx.Client(http2=True) as client:
                    answer = client.post(endpoint, data={
                        "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
                        "assertion": account._make_authorization_grant_assertion().decode()}).raise_for_status().json()
                self.token = answer["access_token"]
                # Without a zone, as google-auth compares it.
                now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
                self.expiry = now + datetime.timedelta(seconds=answer["expires_in"])

        class Wrapped(credentials.Base):
            def __init__(self):
                self.token = Token()

            def get_credential(self):
                return self.token
        self.messaging = messaging
        messaging._MessagingService.FCM_URL = url + "/v1/projects/{0}/messages:send"
        firebase_admin.initialize_app(Wrapped(), {"projectId": account.project_id})

    async def send_many(self, addresses, start):
        messaging = self.messaging
        # This release takes the dry run for the default.
        answer = await messaging.send_each_async([
            messaging.Message(token=address, data={"id": f"1-{start + place}", **DATA},
                              android=messaging.AndroidConfig(priority="high", ttl=3600))
            for place, address in enumerate(addresses)], dry_run=False)
        return answer.success_count


class AsyncFirebase:
    def __init__(self, state, url):
        import async_firebase
        from async_firebase import _credentials
        account, _credentials.TOKEN_URL = service_account(state)
        async_firebase.AsyncFirebaseClient.BASE_URL = url
        self.client = async_firebase.AsyncFirebaseClient(account, use_http2=True)

    async def send_many(self, addresses, start):
        from async_firebase.messages import AndroidConfig, Message
        android = AndroidConfig(priority="high", ttl="3600s")
        answer = await self.client.send_each([
            Message(token=address, data={"id": f"1-{start + place}", **DATA}, android=android)
            for place, address in enumerate(addresses)])
        return sum(each.success for each in answer.responses)


class AioAPNs:
    def __init__(self, state, url):
        import aioapns
        from aioapns.connection import APNsProductionClientProtocol
        self.library = aioapns
        APNsProductionClientProtocol.APNS_SERVER = "127.0.0.1"
        APNsProductionClientProtocol.APNS_PORT = int(url.rsplit(":", 1)[1])
        # Closing after ten idle seconds is its own business.
        with open(os.path.join(state, "apns.json"), encoding="utf-8") as file:
            facts = json.load(file)
        context = ssl.create_default_context(cafile=os.path.join(state, "ca.pem"))
        context.set_alpn_protocols(["h2"])
        with open(os.path.join(state, facts["key_file"]), encoding="utf-8") as file:
            key = file.read()
        self.client = aioapns.APNs(key=key, key_id=facts["key_id"], team_id=facts["team_id"], topic=facts["topic"],
                                   max_connections=4, ssl_context=context)

    async def send_many(self, addresses, start):
        library = self.library
        answers = await asyncio.gather(*[self.client.send_notification(library.NotificationRequest(
            device_token=address, time_to_live=3600, priority=10, push_type=library.PushType.ALERT,
            message={"aps": {"alert": {"title": TITLE, "body": BODY}, "sound": "default"}, "id": f"1-{start + place}",
                     "url": DATA["url"], "screen": "trip"}))
            for place, address in enumerate(addresses)])
        return sum(each.is_successful for each in answers)


class PyWebPush:
    """Its own session speaks HTTP/1.1, which the simulator does not: httpx stands in, as the library allows."""

    def __init__(self, state, url):
        import httpx
        import pywebpush
        from py_vapid import Vapid02
        self.library, self.url = pywebpush, url
        self.key = Vapid02()
        self.key.generate_keys()
        client = httpx.Client(http2=True)

        class Session:
            def post(self, endpoint, data, headers, timeout):
                return client.post(endpoint, content=data, headers=dict(headers), timeout=timeout)
        self.session = Session()

    async def send_many(self, addresses, start):
        accepted = 0
        for place, line in enumerate(addresses):
            endpoint, key, secret = line.split("\t")
            answer = self.library.webpush(
                {"endpoint": endpoint, "keys": {"p256dh": key, "auth": secret}},
                json.dumps({"id": f"1-{start + place}", **DATA}, ensure_ascii=False), vapid_private_key=self.key,
                vapid_claims={"sub": "mailto:push@ferry.example"}, ttl=3600, requests_session=self.session)
            accepted += answer.status_code == 201
        return accepted


class HTTPECE:
    """Encryption alone, with a key pair for each message."""

    def __init__(self, state, url):
        import http_ece
        from cryptography.hazmat.primitives.asymmetric import ec
        self.library, self.curve = http_ece, ec

    async def send_many(self, addresses, start):
        import base64
        text, done = b"x" * 250, 0
        for line in addresses:
            _, key, secret = (part + "==" for part in line.split("\t"))
            sealed = self.library.encrypt(
                text, private_key=self.curve.generate_private_key(self.curve.SECP256R1()),
                dh=base64.urlsafe_b64decode(key), auth_secret=base64.urlsafe_b64decode(secret), version="aes128gcm")
            done += len(sealed) == len(text) + 103
        return done


SENDERS = {"firebase-admin": FirebaseAdmin, "async-firebase": AsyncFirebase, "aioapns": AioAPNs, "pywebpush": PyWebPush,
           "http_ece": HTTPECE}


def make(name, state, url):
    # By these both httpx and requests trust the simulator.
    authority = os.path.join(state, "ca.pem")
    os.environ["SSL_CERT_FILE"] = os.environ["REQUESTS_CA_BUNDLE"] = authority
    return SENDERS[name](state, url)


async def main():
    chosen = options()
    sender = make(chosen.name, chosen.state, chosen.url)
    with open(chosen.addresses, encoding="utf-8") as file:
        addresses = file.read().splitlines()
    # Connects, fetches a token.
    await sender.send_many(addresses[:1], chosen.count)
    cpu, start, accepted = time.process_time(), time.monotonic(), 0
    for first in range(0, chosen.count, chosen.window):
        some = [addresses[place % len(addresses)] for place in range(first, min(chosen.count, first + chosen.window))]
        accepted += await sender.send_many(some, first)
    print(json.dumps({"ok": accepted, "wall": time.monotonic() - start, "cpu": time.process_time() - cpu}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
