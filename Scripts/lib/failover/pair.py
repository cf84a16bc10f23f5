"""A primary and its synchronous standby, asked at whichever is the primary."""
import os
import shutil
import subprocess


class Pair:
    """fsync and synchronous replication stay on: nothing that was answered may be lost."""

    SETTINGS = ["shared_buffers = 256MB", "max_wal_size = 2GB", "autovacuum_naptime = 5s", "wal_level = replica",
                "max_wal_senders = 10", "hot_standby = on", "hot_standby_feedback = on", "wal_receiver_status_interval = 1s",
                "max_locks_per_transaction = 256"]

    def __init__(self, directory):
        self.places = [os.path.join(directory, f"postgres-{number}") for number in (1, 2)]
        self.primary, self.standby = self.places[0], None
        self._shell('postgres_start "$@"', self.primary, *self.SETTINGS)
        self.add_standby()

    def _shell(self, text, *arguments):
        # The server inherits the output: a pipe would never end.
        subprocess.run(["bash", "-c", "set -e; . Scripts/lib/postgres.sh; " + text, "-", *arguments],
                       check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def add_standby(self):
        """In the other place, whatever lay there before."""
        standby = next(each for each in self.places if each != self.primary)
        shutil.rmtree(os.path.join(standby, "data"), ignore_errors=True)
        name = os.path.basename(standby).replace("-", "_")
        self._shell('postgres_standby "$@"', standby, self.primary, name, *self.SETTINGS)
        self.standby = standby
        primary = self._at(self.primary)
        self.ask(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'", url=primary)
        self.ask("SELECT pg_reload_conf()", url=primary)
        while self.ask("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", url=primary) == [["0"]]:
            pass

    def fail_over(self):
        self._shell('postgres_kill "$1"; postgres_promote "$2"', self.primary, self.standby)
        self.primary, self.standby = self.standby, None

    @staticmethod
    def _port(place):
        with open(os.path.join(place, "port"), encoding="utf-8") as file:
            return file.read().strip()

    def _at(self, place, login="app"):
        return f"postgresql://{login}@127.0.0.1:{self._port(place)}/postgres"

    def make_logins(self):
        subprocess.run(["psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-f", "Deploy/postgresql/roles.sql", self.url], check=True,
                       env={**os.environ, "PGOPTIONS": "-c client_min_messages=warning"})

    @property
    def url(self):
        return self.url_of("app")

    def url_of(self, login):
        """Both: whoever connects finds the primary."""
        hosts = ",".join(f"127.0.0.1:{self._port(each)}" for each in self.places)
        return f"postgresql://{login}@{hosts}/postgres?target_session_attrs=read-write"

    @property
    def standby_url(self):
        return self.standby_url_of("fleet_reporter")

    def standby_url_of(self, login):
        return self._at(self.standby, login)

    def ask(self, sql, timeout=30, url=None):
        """Rows of strings; raises CalledProcessError or TimeoutExpired."""
        result = subprocess.run(
            ["psql", "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1", url or self.url, "-c", sql], check=True, timeout=timeout,
            capture_output=True, text=True, env={**os.environ, "PGCONNECT_TIMEOUT": "2"})
        return [line.split("\t") for line in result.stdout.splitlines()]

    def ask_standby(self, sql):
        return self.ask(sql, url=self.standby_url)

    def number(self, sql, timeout=30):
        return int(self.ask(sql, timeout)[0][0])

    def try_ask(self, sql):
        """None while it cannot be asked."""
        try:
            return self.ask(sql, timeout=5)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return None

    def end(self):
        for place in (self.primary, self.standby):
            if place:
                self._shell('postgres_stop "$1" immediate', place)
