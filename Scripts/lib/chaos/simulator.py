"""The provider simulator: its process, its weather, and what it saw."""
import json
import os
import subprocess

from database import wait_until
from ending import unbroken

# Accepted although the sender may never learn it; the rest of the named faults are not accepted.
ACCEPTED = {"slow", "empty", "reset", "stall", "goaway", "close"}
# Refused before it was looked at: sent again free of charge, so no wire send of its own.
UNPROCESSED = {"refuse", "goawaybelow"}

WEATHER = [
    "none",
    "none",
    "e503=5%,e500=2%",
    "quota=3%",
    "stall=0.3%,slow=1%",
    "drop=0.3%",
    "reset=1%",
    "goaway=1/2000,goawaybelow=1/2000",
    "close=1/1000",
    "refuse=2%",
    "html502=2%,empty=0.5%",
    "rate=3000/s",
    "oauth-503=50%",
    "latency=150ms±100ms",
]


class Simulator:
    def __init__(self, binary, directory, seed, ends):
        """ends: an ExitStack; it ends when that unwinds."""
        self.directory = directory
        self.journal = os.path.join(directory, "journal")
        ready = os.path.join(directory, "ready")
        os.makedirs(directory, exist_ok=True)
        with unbroken(), open(os.path.join(directory, "log"), "wb") as log:
            self.process = subprocess.Popen(
                [binary, "--state", os.path.join(directory, "state"), "--ready-file", ready, "--journal", self.journal,
                 "--seed", str(seed), "--latency", "30ms±20ms", "--fault", "unregistered=0.5%,transient=1%",
                 "--keep-ids", "0"], stdout=log, stderr=log)
            ends.callback(self.end)

        def is_ready():
            return os.path.exists(ready) and os.path.getsize(ready) > 0
        wait_until(lambda: is_ready() or self.process.poll() is not None, 20, 0.05)
        if not is_ready():
            raise SystemExit("the simulator does not start; its log tells why")
        with open(ready, encoding="utf-8") as file:
            self.whereabouts = json.load(file)
        self.url = self.whereabouts["url"]
        self.port = int(self.url.rsplit(":", 1)[1].rstrip("/"))
        self.authority = os.path.join(directory, "state", "ca.pem")
        self.account = os.path.join(directory, "state", "service-account.json")

    def call(self, path, body=None):
        command = ["curl", "--silent", "--show-error", "--max-time", "20", "--cacert", self.authority, self.url + path]
        if body is not None:
            command += ["--data", json.dumps(body)]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def weather(self, setting):
        calm = "none,rate=none,latency=30ms±20ms,unregistered=0.5%,transient=1%"
        self.call("/admin/fault", {"set": calm if setting == "none" else f"{calm},{setting}"})

    def counts(self):
        return self.call("/admin/counts")

    def wire(self):
        """What reached it: run, number, whether it was taken, whether it was answered with a refusal."""
        with open(self.journal, encoding="utf-8") as lines:
            for line in lines:
                _, _, identity, status, fault = line.rstrip("\n").split("\t")
                if identity == "-" or fault in UNPROCESSED:
                    continue
                run, number = identity.split("-")
                taken = status == "200" and fault == "-" or fault in ACCEPTED
                yield run, number, "t" if taken else "f", "f" if taken or status == "0" else "t"

    def end(self):
        self.process.terminate()
        self.process.wait()
