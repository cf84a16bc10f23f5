"""Made-up subscribers by transport, and the addresses of the simulator's devices."""
import csv
import hashlib
import json
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "Scripts", "lib"))

from browser_keys import browser_keys  # noqa: E402

NAMES = {"fcm": "FCM", "apns": "APNs", "webpush": "Web Push", "mixed": "mixed"}
LANGUAGES = ["en-US", "pt-BR", "de-DE", "fr", "tr", "zh-Hant-TW", "es-MX", "en-GB"]
# Of eight, as in the demo: five FCM, two APNs, one Web Push.
MIXED = ["webpush", "apns", "apns", "fcm", "fcm", "fcm", "fcm", "fcm"]
# Where the simulator's browsers are, and that they may be on this machine.
EGRESS = {"PUSHFLEET_PUSH_HOSTS": "127.0.0.1", "PUSHFLEET_PRIVATE_NETWORKS": "127.0.0.0/8"}


def address(kind, number, url):
    """Address, p256dh, auth and environment of one device of the simulator."""
    digest = hashlib.sha256(str(number).encode()).hexdigest()
    if kind == "webpush":
        token = f"web{digest[:32]}"
        return f"{url}/push/{token}", *browser_keys(token), ""
    if kind == "apns":
        # Known to Apple's production host alone.
        return "b0b0b0b0" + digest[8:], "", "", "production"
    return f"{digest[:22]}:APA91b{digest}{digest[::-1]}", "", "", ""


def write(path, kind, count, url):
    """Addresses, a line each, with a browser's keys after tabs."""
    with open(path, "w", encoding="utf-8") as file:
        for number in range(count):
            parts = address(kind, number, url)[:3]
            file.write("\t".join(part for part in parts if part) + "\n")


def load(database, kind, count):
    """Imports so many subscribers as an operator does."""
    from harness import BIN
    from provider import URL
    importing = subprocess.Popen(
        [os.path.join(BIN, "pushfleet"), "subscriber", "import", "--app", "ferry", "--format", "csv", "--database", database,
         "--rejects", "/dev/null", "--json", "-"],
        env={**os.environ, **EGRESS}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    with importing.stdin as file:
        lines = csv.writer(file)
        registered = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 3600))
        lines.writerow("external_id transport address p256dh auth environment language attributes registered_at".split())
        for number in range(1, count + 1):
            each = MIXED[number % 8] if kind == "mixed" else kind
            lines.writerow([f"s-{number}", each, *address(each, number, URL), LANGUAGES[number % 8],
                            json.dumps({"firstName": "Zoë", "gate": number % 40}), registered])
    report = json.loads(importing.stdout.read())
    if importing.wait() or report["imported"] != count:
        raise RuntimeError(f"{report} of {count} were imported")
