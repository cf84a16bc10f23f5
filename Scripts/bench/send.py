"""send: our HTTP/2 client against h2load on the same server, and what the FCM transport adds for each message."""
import json
import os
import re

from harness import BIN, ROOT, Timed
from provider import Provider


def bench(server, report, options, directory):
    count = options.size or 200_000
    provider = Provider(directory)
    try:
        token, project = provider.token()
        body = os.path.join(directory, "body.json")
        with open(body, "w", encoding="utf-8") as file:
            json.dump(message(), file)
        path = f"/v1/projects/{project}/messages:send"
        ours, theirs, fcm = [], [], []
        for _ in range(options.rounds):
            theirs.append(h2load(provider, path, body, token, count))
            ours.append(checked(Timed([
                os.path.join(BIN, "Bench"), "send", "--port", str(provider.port), "--path", path, "--body", body, "--token",
                token, "--ca-file", provider.authority, "--requests", str(count)]), count))
            fcm.append(checked(Timed([
                os.path.join(BIN, "Bench"), "fcm", "--endpoint", provider.url, "--account", provider.account, "--campaign",
                os.path.join(ROOT, "Scripts/lib/demo-campaign.json"), "--ca-file", provider.authority, "--requests",
                str(count)]), count))
    finally:
        provider.end()
    case = "HTTP/2 client, 4 connections x 250"
    per = 1e6 / count
    report.figure("send", case, "client cpu", [each.cpu * per for each in ours], "us/request", "h2load",
                  [one.cpu / other.cpu for one, other in zip(ours, theirs)])
    report.figure("send", case, "requests", [count / each.wall for each in ours], "1/s", "h2load",
                  [other.wall / one.wall for one, other in zip(ours, theirs)])
    report.figure("send", "h2load, 4 connections x 250", "client cpu", [each.cpu * per for each in theirs], "us/request")
    report.figure("send", "h2load, 4 connections x 250", "requests", [count / each.wall for each in theirs], "1/s")
    report.figure("send", "FCM transport, demo campaign", "client cpu", [each.cpu * per for each in fcm], "us/message",
                  "HTTP/2 client alone", [one.cpu / other.cpu for one, other in zip(fcm, ours)])
    report.figure("send", "FCM transport, demo campaign", "messages", [count / each.wall for each in fcm], "1/s")


def message():
    """As the transport writes it for the demo campaign."""
    return {"message": {
        "token": "b" * 22 + ":APA91b" + "c" * 134,
        "data": {"id": "1-4711", "title": "Boarding opens soon", "body": "Zoë, gate 17 opens in 10 minutes.",
                 "url": "https://ferry.example/trip?gate=17", "screen": "trip", "sound": "default", "lang": "en"},
        "android": {"priority": "HIGH", "ttl": "3600s"}}}


def h2load(provider, path, body, token, count):
    timed = Timed(["h2load", "-n", str(count), "-c", "4", "-m", "250", "-t", "1", "-d", body, "-H",
                   f"authorization: Bearer {token}", "-H", "content-type: application/json; charset=UTF-8",
                   provider.url + path])
    found = re.search(r"(\d+) 2xx", timed.output)
    if not found or int(found.group(1)) != count:
        raise RuntimeError("h2load was refused: " + timed.output[-600:])
    return timed


def checked(timed, count):
    if json.loads(timed.output)["ok"] != count:
        raise RuntimeError("not everything was accepted: " + timed.output)
    return timed
