"""reports: each view of pushfleet_report and explain() with 100 million deliveries' worth of tallies."""
import json
import os
import statistics
import time

from harness import BIN, ROOT, run

LIMIT = {"view": 100, "explain": 50}
EXPLAIN = {
    "explain, one subscriber": """SELECT * FROM pushfleet.explain('app-3', '{"externalId": "s-402"}')""",
    "explain, one user": """SELECT * FROM pushfleet.explain('app-3', '{"user": "u-201"}')""",
    "explain, one run": """SELECT * FROM pushfleet.explain('app-3', '{"externalId": "s-402"}',
        (SELECT max(id) FROM pushfleet.run WHERE app_id = 3 AND NOT standing))""",
}
# Beside the samples of the page of reports.
MORE = {
    "campaigns, all": "SELECT * FROM pushfleet_report.campaigns",
    "runs, all": "SELECT * FROM pushfleet_report.runs",
    "runs, those that send": "SELECT * FROM pushfleet_report.runs WHERE closed_at IS NULL",
    "hourly, an app's month": "SELECT * FROM pushfleet_report.hourly WHERE app = 'app-3' AND hour > now() - interval '30 days'",
    "daily, all": "SELECT * FROM pushfleet_report.daily",
    "newly_unregistered, all": "SELECT * FROM pushfleet_report.newly_unregistered",
    "outcomes, a campaign": """SELECT language_asked, variant, outcome, sum(jobs) FROM pushfleet_report.outcomes
        WHERE run_id IN (SELECT id FROM pushfleet.run WHERE campaign_id = 3) GROUP BY 1, 2, 3""",
}


def samples(server, database):
    """A query for each view that there is: that of the page of reports, or all of the view."""
    with open(os.path.join(ROOT, "Scripts/lib/report-samples.tsv"), encoding="utf-8") as lines:
        known = dict(line.rstrip("\n").split("\t") for line in lines)
    views = [row[0] for row in server.ask(
        "SELECT relname FROM pg_class WHERE relnamespace = 'pushfleet_report'::regnamespace AND relkind = 'v' ORDER BY 1", database)]
    return {view: known.get(view, f"SELECT * FROM pushfleet_report.{view}") for view in views}


def bench(server, report, options, directory):
    jobs = options.size or 100_000_000
    scale = min(1, jobs / 100_000_000)
    server.ask("CREATE DATABASE reports")
    url = server.url("reports")
    run([os.path.join(BIN, "pushfleet"), "migrate", "up", "--database", url])
    start = time.monotonic()
    run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-v", "apps=20", "-v", f"runs={max(40, int(1200 * scale))}",
         "-v", f"days={max(8, int(60 * scale))}", "-v", f"jobs={jobs}", "-v", f"subscribers={max(2000, int(200_000 * scale))}",
         "-v", f"a_day={max(1000, int(500_000 * scale))}", "-f", os.path.join(ROOT, "Scripts/bench/reports.sql"), url])
    report.note(f"filled in {time.monotonic() - start:.0f} s: " + ", ".join(
        f"{int(server.number(sql, 'reports')):,} {what}" for what, sql in (
            ("deliveries counted", "SELECT sum(n) FROM pushfleet.tally"), ("rows of tally", "SELECT count(*) FROM pushfleet.tally"),
            ("of tally_latency", "SELECT count(*) FROM pushfleet.tally_latency"),
            ("of token_tally", "SELECT count(*) FROM pushfleet.token_tally"), ("runs", "SELECT count(*) FROM pushfleet.run"),
            ("rows of delivery", "SELECT count(*) FROM pushfleet.delivery"))))
    slow = []
    cases = {name: (sql, "view") for name, sql in {**samples(server, "reports"), **MORE}.items()}
    cases |= {name: (sql, "explain") for name, sql in EXPLAIN.items()}
    for name in options.choose(list(cases), str):
        sql, kind = cases[name]
        values = timed(server, sql, max(3, options.rounds))
        report.figure("reports", name, "time", values, "ms", f"{LIMIT[kind]} ms", [each / LIMIT[kind] for each in values])
        if statistics.median(values) > LIMIT[kind]:
            slow.append(f"{name}: {statistics.median(values):.1f} ms, more than {LIMIT[kind]} ms")
    command(report, options, url)
    fold(server, report)
    if slow:
        raise SystemExit("reports: too slow: " + "; ".join(slow))


def timed(server, sql, rounds):
    """Milliseconds of planning and execution by the server's own clock, once it has been asked before."""
    values = []
    for _ in range(rounds + 1):
        text = "".join(row[0] for row in server.ask(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}", "reports"))
        plan = json.loads(text)[0]
        values.append(plan["Planning Time"] + plan["Execution Time"])
    return values[1:]


def command(report, options, url):
    """pushfleet explain as a user starts it: process, connection and all."""
    values = []
    for _ in range(max(3, options.rounds)):
        start = time.monotonic()
        run([os.path.join(BIN, "pushfleet"), "explain", "--app", "app-3", "--external-id", "s-402", "--database", url])
        values.append((time.monotonic() - start) * 1000)
    report.figure("reports", "pushfleet explain", "wall", values, "ms")


def fold(server, report):
    """What keeping the sums adds: one statement that adds to 2,000 cells, as a fold of a busy shard does."""
    sql = """INSERT INTO pushfleet.tally AS t SELECT * FROM pushfleet.tally o WHERE o.run_id = 1 LIMIT 2000
        ON CONFLICT (run_id, hour, route_id, outcome, reason, content_version, variant, asked, served)
        DO UPDATE SET n = t.n + 1"""
    both = timed(server, sql, 3)
    server.ask("ALTER TABLE pushfleet.tally DISABLE TRIGGER USER", "reports")
    without = timed(server, sql, 3)
    report.figure("reports", "tallies of 2,000 cells", "time", both, "ms", "the same without sums",
                  [one / other for one, other in zip(both, without)])
    report.figure("reports", "forget_old", "time", timed(server, "SELECT pushfleet.forget_old(5000)", 3), "ms")
