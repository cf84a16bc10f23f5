"""The private PostgreSQL: started, stopped hard or softly, and asked by psql."""
import os
import subprocess
import threading
import time


class Asked:
    """A server at `self.url`, asked by psql."""

    def make_logins(self):
        """Of the fleet's roles: each process has one, the commands have the owner's."""
        subprocess.run(["psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-f", "Deploy/postgresql/roles.sql", self.url], check=True,
                       env={**os.environ, "PGOPTIONS": "-c client_min_messages=warning"})

    def ask(self, sql, timeout=30, url=None):
        """Rows of strings; raises CalledProcessError or TimeoutExpired."""
        result = subprocess.run(
            ["psql", "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1", url or self.url, "-c", sql], check=True, timeout=timeout,
            capture_output=True, text=True, env={**os.environ, "PGCONNECT_TIMEOUT": "2"})
        return [line.split("\t") for line in result.stdout.splitlines()]

    def number(self, sql, timeout=30):
        return int(self.ask(sql, timeout)[0][0])

    def try_ask(self, sql, url=None):
        """None while it cannot be asked."""
        try:
            return self.ask(sql, timeout=5, url=url)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return None


class Database(Asked):
    """fsync stays on: it is killed in earnest."""

    SETTINGS = ["shared_buffers = 256MB", "max_wal_size = 2GB", "autovacuum_naptime = 5s"]

    def __init__(self, directory):
        self.directory = directory
        self.lock = threading.Lock()
        try:
            self.start()
        except BaseException:
            self.stop("immediate")
            raise
        with open(os.path.join(directory, "port"), encoding="utf-8") as file:
            self.port = int(file.read())
        self.url = self.through(self.port)

    def through(self, port, login="app"):
        return f"postgresql://{login}@127.0.0.1:{port}/postgres"

    def _shell(self, text):
        # The server inherits the output: a pipe would never end. In a session of its own: a terminal's Ctrl-C is for us alone.
        subprocess.run(["bash", "-c", "set -e; . Scripts/lib/postgres.sh; " + text, "-", self.directory, *self.SETTINGS],
                       check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       start_new_session=True)

    def start(self):
        self._shell('postgres_start "$@"')

    def stop(self, mode):
        self._shell(f'postgres_stop "$1" {mode}')

    def restart(self, mode, downtime, sleep):
        with self.lock:
            self.stop(mode)
            sleep(downtime)
            self.start()


class Watch(threading.Thread):
    """Reads accounting_violation again and again, through every fault."""

    def __init__(self, database):
        super().__init__(daemon=True)
        self.database = database
        self.reads = 0
        self.violations = 0
        self.first = None
        self.ended = threading.Event()

    def run(self):
        while not self.ended.is_set():
            rows = self.database.try_ask("SELECT to_json(v) FROM pushfleet.accounting_violation v")
            if rows is not None:
                self.reads += 1
                self.violations += len(rows)
                if rows and self.first is None:
                    self.first = rows[0][0]
            self.ended.wait(0.15)

    def end(self):
        self.ended.set()
        self.join()


def wait_until(condition, seconds, step=0.25):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(step)
    return condition()
