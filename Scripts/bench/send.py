"""send: our HTTP/2 client against h2load on the same server, what each transport adds for a message, and encryption alone
against http_ece."""
import json
import os
import re

import audience
import peers
from harness import BIN, ROOT, Timed
from provider import Provider


def bench(server, report, options, directory):
    count = options.size or 200_000
    provider = Provider(directory)
    try:
        if options.choose(["client"], str):
            client(provider, report, options, directory, count)
        for kind in options.choose(["fcm", "apns", "webpush"], str):
            transport(provider, report, options, directory, kind, count)
        if options.choose(["encryption"], str):
            encryption(provider, report, options, directory, max(count // 10, 1))
    finally:
        provider.end()


def transport(provider, report, options, directory, kind, count):
    """Everything through it, and only what is made of each message: rendering, signing, encrypting, not the wire."""
    whole = [send(provider, directory, kind, count) for _ in range(options.rounds)]
    made = [send(provider, directory, kind, count, "--render-only") for _ in range(options.rounds)]
    case, per = f"{audience.NAMES[kind]} transport, demo campaign", 1e6 / count
    report.figure("send", case, "client cpu", [each.cpu * per for each in whole], "us/message")
    report.figure("send", case, "of it rendering", [each.cpu * per for each in made], "us/message", "the whole",
                  [one.cpu / other.cpu for one, other in zip(made, whole)])
    report.figure("send", case, "messages", [count / each.wall for each in whole], "1/s")


def send(provider, directory, kind, count, *more):
    """The demo campaign through one of our transports."""
    addresses = os.path.join(directory, f"{kind}.tsv")
    if not os.path.exists(addresses):
        audience.write(addresses, kind, min(count, 2000), provider.url)
    credential = {"fcm": provider.account, "apns": provider.apple, "webpush": provider.vapid_key()}[kind]
    return checked(Timed([
        os.path.join(BIN, "Bench"), "transport", kind, "--endpoint", provider.url, "--credential", credential, "--campaign",
        os.path.join(ROOT, "Scripts/lib/demo-campaign.json"), "--ca-file", provider.authority, "--addresses", addresses,
        "--requests", str(count), *more]), count)


def encryption(provider, report, options, directory, count):
    try:
        environment = peers.environment(report)
    except RuntimeError as reason:
        return peers.could_not(report, "http_ece", reason)
    _, key, secret, _ = audience.address("webpush", 1, provider.url)
    addresses = os.path.join(directory, "browser.tsv")
    audience.write(addresses, "webpush", 1, provider.url)
    ours, theirs = [], []
    for _ in range(options.rounds):
        theirs.append(peers.sender(environment, provider, "http_ece", addresses, count)["cpu"])
        ours.append(checked(Timed([os.path.join(BIN, "Bench"), "seal", "--key", key, "--secret", secret, "--messages",
                                   str(count)]), count).cpu)
    report.figure("send", "Web Push encryption, 250 bytes", "cpu", [each * 1e6 / count for each in ours], "us/message",
                  "http_ece", [one / other for one, other in zip(ours, theirs)])
    report.figure("send", "http_ece, 250 bytes", "cpu", [each * 1e6 / count for each in theirs], "us/message")


def client(provider, report, options, directory, count):
    token, project = provider.token()
    body = os.path.join(directory, "body.json")
    with open(body, "w", encoding="utf-8") as file:
        json.dump(message(), file)
    path = f"/v1/projects/{project}/messages:send"
    ours, theirs = [], []
    for _ in range(options.rounds):
        theirs.append(h2load(provider, path, body, token, count))
        ours.append(checked(Timed([
            os.path.join(BIN, "Bench"), "send", "--port", str(provider.port), "--path", path, "--body", body, "--token",
            token, "--ca-file", provider.authority, "--requests", str(count)]), count))
    case = "HTTP/2 client, 4 connections x 250"
    per = 1e6 / count
    report.figure("send", case, "client cpu", [each.cpu * per for each in ours], "us/request", "h2load",
                  [one.cpu / other.cpu for one, other in zip(ours, theirs)])
    report.figure("send", case, "requests", [count / each.wall for each in ours], "1/s", "h2load",
                  [other.wall / one.wall for one, other in zip(ours, theirs)])
    report.figure("send", "h2load, 4 connections x 250", "client cpu", [each.cpu * per for each in theirs], "us/request")
    report.figure("send", "h2load, 4 connections x 250", "requests", [count / each.wall for each in theirs], "1/s")


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
