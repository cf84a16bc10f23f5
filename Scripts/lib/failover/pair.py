"""A primary and its synchronous standby, asked at whichever is the primary."""
import os
import shutil
import subprocess

from database import Asked
from ending import unbroken


class Pair(Asked):
    """fsync and synchronous replication stay on: nothing that was answered may be lost."""

    SETTINGS = ["shared_buffers = 256MB", "max_wal_size = 2GB", "autovacuum_naptime = 5s", "wal_level = replica",
                "max_wal_senders = 10", "hot_standby = on", "hot_standby_feedback = on", "wal_receiver_status_interval = 1s",
                "max_locks_per_transaction = 256"]
    SUPERUSER = "app"

    def __init__(self, directory):
        self.places = [os.path.join(directory, f"postgres-{number}") for number in (1, 2)]
        self.primary, self.standby = self.places[0], None

    def start(self):
        with unbroken():
            self._shell('postgres_start "$@"', self.primary, *self.SETTINGS)
        self.add_standby()

    def _shell(self, text, *arguments):
        # The server inherits the output: a pipe would never end. In a session of its own: a terminal's Ctrl-C is for us alone.
        subprocess.run(["bash", "-c", "set -e; . Scripts/lib/postgres.sh; " + text, "-", *arguments],
                       check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       start_new_session=True)

    def add_standby(self):
        """In the other place, whatever lay there before."""
        standby = self._other()
        shutil.rmtree(os.path.join(standby, "data"), ignore_errors=True)
        name = os.path.basename(standby).replace("-", "_")
        with unbroken():
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

    def _other(self):
        return next(each for each in self.places if each != self.primary)

    @staticmethod
    def _port(place):
        with open(os.path.join(place, "port"), encoding="utf-8") as file:
            return file.read().strip()

    def _at(self, place, login=None):
        return f"postgresql://{login or self.SUPERUSER}@127.0.0.1:{self._port(place)}/postgres"

    @property
    def url(self):
        return self.url_of(self.SUPERUSER)

    def url_of(self, login):
        """Both: whoever connects finds the primary."""
        hosts = ",".join(f"127.0.0.1:{self._port(each)}" for each in self.places)
        return f"postgresql://{login}@{hosts}/postgres?target_session_attrs=read-write"

    @property
    def standby_url(self):
        return self.standby_url_of("fleet_reporter")

    def standby_url_of(self, login):
        return self._at(self.standby, login)

    def ask_standby(self, sql):
        return self.ask(sql, url=self.standby_url)

    def end(self):
        for place in self.places:
            self._shell('postgres_stop "$1" immediate', place)
