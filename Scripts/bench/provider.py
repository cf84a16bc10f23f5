"""The provider simulator for benchmarks: strict as always, TLS on."""
import base64
import json
import os
import socket
import subprocess
import time
import urllib.parse

from ending import unbroken
from harness import BIN, run


def free_port():
    with socket.socket() as any_socket:
        any_socket.bind(("127.0.0.1", 0))
        return any_socket.getsockname()[1]


# The same for each simulator of this run: the endpoints of made-up browsers name it.
PORT = free_port()
URL = f"https://127.0.0.1:{PORT}"


class Provider:
    def __init__(self, directory, latency="0ms", fault="none", journal=False):
        self.directory = os.path.join(directory, "simulator")
        os.makedirs(self.directory, exist_ok=True)
        ready = os.path.join(self.directory, "ready")
        self.journal = os.path.join(self.directory, "journal")
        for path in (ready, self.journal):
            if os.path.exists(path):
                os.unlink(path)
        with unbroken():
            self.process = subprocess.Popen(
                [os.path.join(BIN, "pushfleet-simulator"), "--state", self.directory, "--ready-file", ready, "--latency", latency,
                 "--fault", fault, "--keep-ids", "0", "--listen", f"127.0.0.1:{PORT}",
                 *(["--journal", self.journal] if journal else [])], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self._await(ready)
        except BaseException:
            self.end()
            raise
        self.url, self.port = URL, PORT
        self.authority = os.path.join(self.directory, "ca.pem")
        self.account = os.path.join(self.directory, "service-account.json")
        self.apple = os.path.join(self.directory, "apns.json")

    def _await(self, ready):
        end = time.monotonic() + 20
        while not (os.path.exists(ready) and os.path.getsize(ready)):
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("the simulator does not start")
            time.sleep(0.05)

    def vapid_key(self):
        """The path of a signing key for Web Push."""
        path = os.path.join(self.directory, "vapid.pem")
        if not os.path.exists(path):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
                file.write(run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]))
        return path

    def arrivals(self):
        """Microseconds of the machine's steady clock at which each run's each number came first."""
        self.counts()
        first = {}
        with open(self.journal, encoding="utf-8") as lines:
            for line in lines:
                instant, _, identity, _, _ = line.rstrip("\n").split("\t")
                first.setdefault(identity, int(instant))
        return first

    def counts(self):
        return json.loads(run(["curl", "--silent", "--cacert", self.authority, self.url + "/admin/counts"]))

    def token(self):
        """An access token, fetched as any client of the service account does (RFC 7523)."""
        with open(self.account, encoding="utf-8") as file:
            account = json.load(file)
        now = int(time.time())
        claims = {"iss": account["client_email"], "aud": account["token_uri"], "iat": now, "exp": now + 3600,
                  "scope": "https://www.googleapis.com/auth/firebase.messaging"}
        header = {"alg": "RS256", "typ": "JWT", "kid": account["private_key_id"]}
        signed = b".".join(base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=") for each in (header, claims))
        key = os.path.join(self.directory, "key.pem")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(account["private_key"])
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=signed, capture_output=True,
                                   check=True).stdout
        assertion = signed + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")
        form = urllib.parse.urlencode(
            {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion.decode()})
        answer = run(["curl", "--silent", "--cacert", self.authority, account["token_uri"], "--data", form])
        return json.loads(answer)["access_token"], account["project_id"]

    def end(self):
        self.process.terminate()
        self.process.wait()
