"""The same pair, led by Patroni: two members and one etcd, with the settings of Deploy."""
import http.client
import json
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess

import yaml
from database import wait_until
from pair import Pair

# What a small machine that runs both members needs otherwise than Deploy/postgresql/pushfleet.conf.
SMALL = ["shared_buffers = 256MB", "effective_cache_size = 1GB", "maintenance_work_mem = 64MB", "max_wal_size = 2GB"]
# They have no passwords here; the superuser and the replicator do, and Deploy's own lines let them in.
LOGINS = "fleet_owner,fleet_scheduler,fleet_worker,fleet_janitor,fleet_reporter"


def free_ports(count):
    """Of 127.0.0.1, all different."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


class PatroniPair(Pair):
    """Members' processes are this object's children; their servers are found by the files that they write."""

    SUPERUSER = "postgres"

    def __init__(self, directory):
        super().__init__(directory)
        self.directory = directory
        self.passwords = {"superuser": secrets.token_hex(8), "replication": secrets.token_hex(8)}
        # Of whoever asks as the superuser.
        os.environ["PGPASSWORD"] = self.passwords["superuser"]
        # Neither PostgreSQL nor, then, Patroni runs as root.
        self.login = pwd.getpwnam("postgres") if os.getuid() == 0 else None
        with open("Deploy/patroni/patroni.yml", encoding="utf-8") as file:
            self.settings = yaml.safe_load(file)
        self.ttl = self.settings["bootstrap"]["dcs"]["ttl"]
        client, self.peer, *rest = free_ports(6)
        self.etcd = f"127.0.0.1:{client}"
        self.ports, self.rest_ports = dict(zip(self.places, rest)), dict(zip(self.places, rest[2:]))
        self.processes = {}

    def start(self):
        self._start_etcd()
        self._write_configuration()
        for place in self.places:
            self._configure(place)
        self._start_member(self.primary)
        self._until(lambda: self._answers(self.primary, "/primary"), 60, "the first member leads")
        self.add_standby()

    def add_standby(self):
        """What lay in the other place is taken back to where the primary left it: that is Patroni's work."""
        self.standby = self._other()
        self._start_member(self.standby)
        self._until(lambda: self._answers(self.standby, "/sync"), 120, "the second member is the synchronous standby")

    def fail_over(self):
        """Kills a whole member, PostgreSQL and Patroni; returns when the other leads."""
        self._kill(self.processes.pop(self.primary))
        self._shell('postgres_kill "$1"', self.primary)
        recovering = "SELECT pg_is_in_recovery()"
        self._until(lambda: self.try_ask(recovering, url=self._at(self.standby)) == [["f"]], 3 * self.ttl + 30,
                    "Patroni has promoted the standby")
        self.primary, self.standby = self.standby, None

    def end(self):
        for process in self.processes.values():
            self._kill(process)
        super().end()
        # A server that Patroni was just starting when it was killed has not said yet where it is.
        for place in self.places:
            subprocess.run(["pkill", "-KILL", "-f", "postgres -D " + os.path.join(place, "data")], check=False)

    def _start_etcd(self):
        place = os.path.join(self.directory, "etcd")
        self._make(place)
        peer = f"http://127.0.0.1:{self.peer}"
        self._start("etcd", "etcd", [
            "/usr/bin/etcd", "--name", "etcd1", "--data-dir", os.path.join(place, "data"),
            "--listen-client-urls", "http://" + self.etcd, "--advertise-client-urls", "http://" + self.etcd,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "etcd1=" + peer])
        self._until(lambda: self._get(self.etcd, "/health") == 200, 30, "etcd answers")

    def _start_member(self, place):
        self._start(place, os.path.basename(place), ["/usr/bin/patroni", os.path.join(place, "patroni.yml")])

    def _start(self, key, name, command):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "ETCD_", "PATRONI_"))}
        for login, password in self.passwords.items():
            environment[f"PATRONI_{login.upper()}_PASSWORD"] = password
        as_login = {"user": self.login.pw_uid, "group": self.login.pw_gid, "extra_groups": []} if self.login else {}
        with open(os.path.join(self.directory, name + ".log"), "ab") as log:
            # A session of its own: killed whole, and out of reach of a terminal's interrupt.
            self.processes[key] = subprocess.Popen(command, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                   env=environment, start_new_session=True, **as_login)

    @staticmethod
    def _kill(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()

    def _make(self, place):
        os.makedirs(place, exist_ok=True)
        if self.login:
            os.chown(place, self.login.pw_uid, self.login.pw_gid)

    def _write_configuration(self):
        """Deploy's, and after it what a small machine needs."""
        path = os.path.join(self.directory, "pushfleet.conf")
        shutil.copyfile("Deploy/postgresql/pushfleet.conf", path)
        with open(path, "a", encoding="utf-8") as file:
            file.write("\n".join(["", *SMALL, ""]))
        os.chmod(path, 0o644)

    def _configure(self, place):
        """Deploy/patroni/patroni.yml, with the names and places of one of two members on one machine."""
        self._make(place)
        with open(os.path.join(place, "port"), "w", encoding="utf-8") as file:
            file.write(str(self.ports[place]))
        settings = json.loads(json.dumps(self.settings))
        rest, server = f"127.0.0.1:{self.rest_ports[place]}", f"127.0.0.1:{self.ports[place]}"
        settings["name"] = os.path.basename(place)
        settings["restapi"] = {"listen": rest, "connect_address": rest}
        settings["etcd3"] = {"hosts": self.etcd}
        # A machine that has such a device would be restarted by it.
        settings["watchdog"] = {"mode": "off"}
        own = settings["postgresql"]
        own.update(
            listen=server, connect_address=server, data_dir=os.path.join(place, "data"), bin_dir=self._bin(),
            custom_conf=os.path.join(self.directory, "pushfleet.conf"), pgpass=os.path.join(place, "pgpass"))
        own.setdefault("parameters", {})["unix_socket_directories"] = ""
        own["pg_hba"].insert(0, f"host all {LOGINS} 127.0.0.1/32 trust")
        path = os.path.join(place, "patroni.yml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(settings, file, indent=2)
        os.chmod(path, 0o644)

    @staticmethod
    def _bin():
        return subprocess.run(["bash", "-c", ". Scripts/lib/postgres.sh; postgres_bin"], check=True, capture_output=True,
                              text=True).stdout.strip()

    def _answers(self, place, path):
        """Patroni says so of this member, after etcd."""
        return self._get(f"127.0.0.1:{self.rest_ports[place]}", path) == 200

    @staticmethod
    def _get(where, path):
        connection = http.client.HTTPConnection(where, timeout=2)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except OSError:
            return None
        finally:
            connection.close()

    def _until(self, condition, seconds, what):
        if not wait_until(condition, seconds, 0.1):
            raise SystemExit(f"failover: it did not happen in time: {what}")
