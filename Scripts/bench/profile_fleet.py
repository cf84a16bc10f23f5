"""profile: where the CPU of a whole campaign goes: by component and thread, by function (perf), by statement
(pg_stat_statements); and the queue's alone by statement."""
import collections
import os
import re
import shutil
import signal
import subprocess

import audience
from fleet import Fleet
from harness import parent, run, until
from queue_bench import drain

SETTINGS = ["shared_preload_libraries = 'pg_stat_statements'"]
WORKERS = 2
FREQUENCY = 499
# Functions and statements below this share of their component are left out, and what too few samples say.
LEAST_PERCENT = 1.5
LEAST_SAMPLES = 100


def bench(server, report, options, directory):
    if not shutil.which("perf"):
        raise SystemExit("profile: there is no perf; install it: apt-get install linux-perf")
    count = options.size or 150_000
    server.ask("CREATE EXTENSION pg_stat_statements")
    if options.choose(["stub"], str):
        drained = drain(server, count, 500, WORKERS, before=lambda: server.ask("SELECT pg_stat_statements_reset()"))
        report.figure("profile", "queue, batch 500, 2 workers", "database", [drained["server"]], "us/job")
        say_statements(server, report, "queue, batch 500, 2 workers", "queue", count)
    for kind in options.choose(list(audience.NAMES), str):
        profile(server, report, directory, kind, count)


def profile(server, report, directory, kind, count):
    url = server.fresh("profile", count, kind)
    path = os.path.join(directory, "perf.data")
    with Fleet(server, directory, url, WORKERS, kind) as fleet:
        server.ask("SELECT pg_stat_statements_reset()")
        before = fleet.usage()
        # The whole machine: processes that are born meanwhile belong to it.
        perf = subprocess.Popen(["perf", "record", "-q", "-a", "-F", str(FREQUENCY), "-o", path], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        try:
            made = fleet.create()
            until(lambda: fleet.settled(made) >= count, seconds=600)
            after = fleet.usage()
            pids = [each.pid for each in fleet.members]
            # While they live.
            parts = {"database": [int(each) for each in os.listdir("/proc") if each.isdigit() and parent(each) == server.pid],
                     "worker": pids[2:], "other roles": pids[:2], "simulator": [fleet.provider.process.pid]}
        finally:
            perf.send_signal(signal.SIGINT)
            perf.wait()
    case = audience.NAMES[kind]
    spent = {name: (after[name] - before[name]) * 1e6 / count for name in before}
    total = sum(spent.values())
    for name, value in spent.items():
        report.figure("profile", case, name, [value], "us/push", "the whole", [value / total])
    found = samples(path)
    for part, pids in parts.items():
        own = [sample for sample in found if sample[1] in pids]
        if len(own) < LEAST_SAMPLES:
            continue
        for place, words in ((0, "thread"), (3, "library"), (2, "function")):
            for name, times in collections.Counter(sample[place] for sample in own).most_common(12):
                if times * 100 >= len(own) * LEAST_PERCENT:
                    report.figure("profile", f"{case}, {part} by {words}", readable(name)[:70],
                                  [spent[part] * times / len(own)], "us/push", part, [times / len(own)])
    say_statements(server, report, case, "profile", count)


def say_statements(server, report, case, database, count):
    statements = server.ask(STATEMENTS.format(database=database))
    whole = sum(float(row[1]) for row in statements)
    for calls, milliseconds, wal, text in statements:
        share = float(milliseconds) / whole
        if share * 100 >= LEAST_PERCENT:
            report.figure("profile", f"{case}, statements ({int(calls):,} calls, {int(wal) / count:.0f} B WAL each)", text[:60],
                          [float(milliseconds) * 1e3 / count], "us each", "all statements", [share])


STATEMENTS = r"""
SELECT calls, total_exec_time + total_plan_time, wal_bytes, regexp_replace(left(query, 200), '\s+', ' ', 'g')
FROM pg_stat_statements
WHERE dbid = (SELECT oid FROM pg_database WHERE datname = '{database}')
    -- Ours alone, not those of the benchmark.
    AND query !~ '^(UPDATE pushfleet.run SET status|SELECT coalesce|SELECT extract)'
ORDER BY 2 DESC
"""


def samples(path):
    """Thread's name, process, function and library of each. perf's own report mixes processes up when it filters them."""
    text = run(["perf", "script", "-i", path, "-F", "comm,pid,ip,sym,dso"])
    found = []
    for line in text.splitlines():
        parts = re.match(r"\s*(.+?)\s+(\d+)\s+[0-9a-f]+\s+(.*?)\s*\((.*)\)$", line)
        if parts:
            thread, process, function, library = parts.groups()
            kernel = library.startswith("[kernel")
            name = "kernel" if kernel else os.path.basename(library)
            found.append((thread, int(process), f"kernel: {function}" if kernel else function, name))
    return found


def readable(name):
    """Swift's names as they are written."""
    if not name.startswith("$s") or not shutil.which("swift"):
        return name
    return run(["swift", "demangle", "--simplified", "--compact", name]).strip()
