"""What every benchmark needs: a PostgreSQL of its own, CPU by process, medians with spread, and one way to report."""
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time

import audience
from ending import unbroken

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Another build can be measured by the same scripts.
BIN = os.environ.get("PUSHFLEET_BENCH_BIN", os.path.join(ROOT, ".build", "release"))
TICK = os.sysconf("SC_CLK_TCK")

# fsync and synchronous_commit stay on: what is measured is what is promised.
SETTINGS = ["shared_buffers = 2GB", "max_wal_size = 8GB", "checkpoint_timeout = 15min", "autovacuum_naptime = 15s",
            "max_locks_per_transaction = 1024"]
SHOWN = ["server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_level", "shared_buffers", "max_wal_size",
         "autovacuum", "autovacuum_naptime"]


class Server:
    """The private PostgreSQL of one benchmark."""

    def __init__(self, directory, ends, more=()):
        """ends: an ExitStack; it stops when that unwinds. more: settings besides those of all."""
        self.directory, self.more = directory, more
        ends.callback(self.stop)
        with unbroken():
            self._shell('postgres_start "$@"')
        with open(os.path.join(directory, "port"), encoding="utf-8") as file:
            self.port = int(file.read())
        with open(os.path.join(directory, "data", "postmaster.pid"), encoding="utf-8") as file:
            self.pid = int(file.readline())

    def _shell(self, text):
        subprocess.run(
            ["bash", "-c", f"set -e; cd '{ROOT}'; . Scripts/lib/postgres.sh; . Scripts/lib/pgbouncer.sh; {text}", "-",
             self.directory, *SETTINGS, *self.more],
            check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            # A terminal's Ctrl-C is for us alone.
            start_new_session=True)

    def stop(self):
        self._shell('pgbouncer_stop "$1"; postgres_stop "$1" immediate')

    def pooler(self):
        """The URL of a PgBouncer in transaction mode before it, which is started if there is none."""
        ini = os.path.join(self.directory, "pgbouncer", "pgbouncer.ini")
        if not os.path.exists(ini):
            self._shell(f'export PGHOST=127.0.0.1 PGUSER=app PGPORT={self.port}; pgbouncer_start "$1"')
        with open(ini, encoding="utf-8") as file:
            port = next(line.split("=")[1].strip() for line in file if line.startswith("listen_port"))
        return f"postgresql://app@127.0.0.1:{port}/"

    def url(self, database="postgres"):
        return f"postgresql://app@127.0.0.1:{self.port}/{database}"

    def ask(self, sql, database="postgres"):
        """Rows of strings."""
        done = subprocess.run(["psql", "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1", self.url(database), "-c", sql],
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{sql[:200]}: {done.stderr}")
        return [line.split("\t") for line in done.stdout.splitlines()]

    def number(self, sql, database="postgres"):
        return float(self.ask(sql, database)[0][0])

    def session(self, database):
        return Session(self.url(database))

    def settings(self):
        return {name: self.ask(f"SHOW {name}")[0][0] for name in SHOWN}

    def cpu(self):
        """Seconds of all its processes, those that ended included."""
        while True:
            ended = own_cpu(self.pid, ended=True)
            alive = sum(own_cpu(int(each)) for each in os.listdir("/proc") if each.isdigit() and parent(each) == self.pid)
            # One that ended meanwhile would be missed.
            if own_cpu(self.pid, ended=True) == ended:
                return ended + alive

    def fresh(self, name, subscribers, kind="fcm", prepare=None, label=""):
        """A database with our schema and an app of so many subscribers: a copy of a template made once.

        prepare: what else is done to the template, given its name; label tells such templates apart.
        """
        template = f"template_{kind}_{subscribers}{label}"
        if not self.ask(f"SELECT 1 FROM pg_database WHERE datname = '{template}'"):
            self.ask(f"CREATE DATABASE {template}")
            run([os.path.join(BIN, "pushfleet"), "migrate", "up", "--database", self.url(template)])
            run([os.path.join(BIN, "pushfleet"), "app", "create", "ferry", "--database", self.url(template)])
            if kind == "fcm":
                self.ask(SUBSCRIBERS.format(count=subscribers), template)
            else:
                audience.load(self.url(template), kind, subscribers)
            if prepare:
                prepare(template)
            self.ask("VACUUM ANALYZE", template)
        self.ask(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        self.ask(f"CREATE DATABASE {name} TEMPLATE {template}")
        self.ask("CHECKPOINT")
        return self.url(name)


class Session:
    """One connection to look by, again and again: a new one for each look costs the database milliseconds of CPU, which
    would count as the fleet's."""

    END = "-- that was all"

    def __init__(self, url):
        self.psql = subprocess.Popen(["psql", "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1", url], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def ask(self, sql):
        """Rows of strings."""
        self.psql.stdin.write(f"{sql};\n\\echo {self.END}\n")
        self.psql.stdin.flush()
        rows = []
        for line in self.psql.stdout:
            if line.strip() == self.END:
                return rows
            rows.append(line.rstrip("\n").split("\t"))
        raise RuntimeError(f"{sql[:200]}: {rows}")

    def number(self, sql):
        return float(self.ask(sql)[0][0])

    def close(self):
        self.psql.stdin.close()
        self.psql.stdout.close()
        self.psql.wait()


SUBSCRIBERS = """
INSERT INTO pushfleet.subscriber (shard, app_id, transport, address, external_id, language, attributes, registered_at)
SELECT app.shards[1], app.id, 2, left(md5(g::text), 22) || ':APA91b' || md5(g::text) || md5('a' || g) || md5('b' || g), 's-' || g,
    (ARRAY['en-US', 'pt-BR', 'de-DE', 'fr', 'tr', 'zh-Hant-TW', 'es-MX', 'en-GB'])[1 + g % 8],
    jsonb_build_object('firstName', 'Zoë', 'gate', g % 40), now() - interval '1 hour'
FROM pushfleet.app, generate_series(1, {count}) g
"""


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:3])}: {done.stderr.strip()}")
    return done.stdout


def stat(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rsplit(")", 1)[1].split()


def parent(pid):
    try:
        return int(stat(pid)[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def own_cpu(pid, ended=False):
    """User and system seconds of a process, and of its children that ended."""
    try:
        fields = stat(pid)
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(int(each) for each in fields[11:15 if ended else 13]) / TICK


def peak_memory(pid):
    """Highest resident size so far, in MiB."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def until(condition, seconds=120, pause=0.25):
    """Looks seldom: what the database does for a look counts in its CPU."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError("a benchmark did not come to its end")
        time.sleep(pause)


class Timed:
    """A command run to its end: wall and CPU seconds, and what it printed."""

    def __init__(self, command):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        self.output = run(command)
        self.wall = time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Report:
    """Figures as they come: a table line each, or a JSON line."""

    def __init__(self, as_json):
        self.as_json = as_json
        self.missed = 0

    def head(self, server=None):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "?")
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (1 << 30)
        self.note(f"hardware: {os.cpu_count()} x {model}, {memory} GiB; {platform.release()}")
        self.note("load before: " + " ".join(f"{each:.2f}" for each in os.getloadavg()))
        if server:
            self.note("PostgreSQL: " + ", ".join(f"{name} {value}" for name, value in server.settings().items()))

    def note(self, text):
        print(text, file=sys.stderr if self.as_json else sys.stdout, flush=True)

    def figure(self, benchmark, case, metric, values, unit, baseline=None, ratios=None):
        """The median of several. A ratio is taken within each round, and then its median."""
        value = statistics.median(values)
        ratio = statistics.median(ratios) if ratios else None
        if self.as_json:
            print(json.dumps({
                "benchmark": benchmark, "case": case, "metric": metric, "value": round(value, 3), "unit": unit,
                "baseline": baseline, "ratio": None if ratio is None else round(ratio, 3), "lowest": round(min(values), 3),
                "highest": round(max(values), 3), "rounds": len(values)}), flush=True)
        else:
            against = f"   {ratio:6.2f} x {baseline}" if ratio is not None else ""
            spread = f"[{min(values):,.4g} .. {max(values):,.4g}]"
            print(f"{benchmark:8} {case:38} {metric:26} {value:14,.4g} {unit:12} {spread:26}{against}", flush=True)
