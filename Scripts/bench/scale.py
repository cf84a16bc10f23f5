"""scale: what a push costs as the audience grows, and a claim as partitions and live runs do."""
import json
import os

from expand import make_run
from fleet import campaign, say
from harness import BIN, run

CLAIM_JOBS = 100_000


def bench(server, report, options, directory):
    audiences(server, report, options, directory)
    for runs in (1, 100, 5000):
        cases = [(runs, partitions, mode) for partitions in (1, 30, 300) for mode in ("prepared", "unprepared")]
        wanted = options.choose(cases, lambda each: f"claim-{each[0]}x{each[1]}-{each[2]}")
        if wanted:
            claims(server, report, options, runs, wanted)


def audiences(server, report, options, directory):
    sizes = [(100_000, options.rounds), (1_000_000, options.rounds)]
    if options.full:
        sizes.append((10_000_000, 1))
    if options.size:
        sizes = [(options.size, options.rounds), (options.size * 10, options.rounds)]
    costs = {}
    for count, rounds in options.choose(sizes, lambda each: str(each[0])):
        figures = [campaign(server, directory, count, "0ms", 2) for _ in range(rounds)]
        say(report, "scale", f"FCM, {count:,} subscribers", figures)
        costs[count] = [each["all cpu"] for each in figures]
    if not costs:
        return
    smallest = min(costs)
    base = sum(costs[smallest]) / len(costs[smallest])
    for count, values in costs.items():
        report.figure("scale", f"FCM, {count:,} subscribers", "all cpu", values, "us/push", f"{smallest:,} subscribers",
                      [each / base for each in values])


def claims(server, report, options, runs, cases):
    """Each run with as many batches, of one job each: what is measured is the statement, not the rows."""
    jobs = min(options.size or CLAIM_JOBS, CLAIM_JOBS)
    if jobs < runs:
        report.note(f"scale: {jobs} jobs are too few for {runs} runs; left out")
        return
    url = server.fresh("claims", jobs, label=f"_runs_{runs}", prepare=lambda name: expand(server, name, runs))
    turns = max(10, min(1000, jobs // 50))
    for _, partitions, mode in cases:
        partition(server, partitions)
        more = ["--unprepared"] if mode == "unprepared" else []
        rounds, cpu = [], []
        for _ in range(options.rounds):
            before = server.cpu()
            rounds.append(json.loads(run([os.path.join(BIN, "Bench"), "claim", "--database", url, "--claims", str(turns),
                                          *more])))
            cpu.append((server.cpu() - before) * 1e6 / turns)
        case = f"{runs:,} live runs, {partitions} partitions, {mode}"
        for statement in ("heads", "claim", "read", "flush"):
            report.figure("scale", case, f"{statement} p50", [each[statement]["p50"] for each in rounds], "us")
        report.figure("scale", case, "claim p99", [each["claim"]["p99"] for each in rounds], "us")
        report.figure("scale", case, "database cpu", cpu, "us/claim")


def expand(server, name, runs):
    """One run by the scheduler's own statement, its batches then dealt out to so many: one page for each would take long."""
    first = make_run(server, name, batch_size=1)
    run([os.path.join(BIN, "Bench"), "expand", str(first), "--database", server.url(name)])
    server.ask(f"""
        BEGIN;
        INSERT INTO pushfleet.run (id, app_id, batch_size, content_version, ttl) OVERRIDING SYSTEM VALUE
        SELECT {first} + g, app_id, batch_size, content_version, ttl
        FROM pushfleet.run, generate_series(1, {runs - 1}) g WHERE run.id = {first};
        INSERT INTO pushfleet.run_route (shard, run_id, route_id, lane, last_tag, low_tag, tag_offset, head)
        SELECT shard, {first} + g, route_id, lane, last_tag, low_tag, tag_offset, head
        FROM pushfleet.run_route, generate_series(1, {runs - 1}) g WHERE run_id = {first};
        UPDATE pushfleet.batch SET run_id = {first} + id % {runs};
        UPDATE pushfleet.job SET run_id = {first} + batch_id % {runs};
        DELETE FROM pushfleet.run_progress WHERE run_id = {first};
        INSERT INTO pushfleet.run_progress (shard, run_id, last_subscriber_id, targeted, expanded)
        SELECT shard, run_id, max(last_subscriber_id), sum(size), true FROM pushfleet.batch GROUP BY shard, run_id;
        COMMIT""", name)
    for table in ("batch", "job", "run_route"):
        server.ask(f"VACUUM FULL pushfleet.{table}", name)


def partition(server, wanted):
    """So many partitions of `delivery`: today's, and days long past."""
    names = [row[0] for row in server.ask(
        "SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'pushfleet.delivery'::regclass ORDER BY 1", "claims")]
    today = server.ask("SELECT 'pushfleet.delivery_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')", "claims")[0][0]
    for name in names:
        if name != today and len(names) > wanted:
            server.ask(f"DROP TABLE {name}", "claims")
            names = [each for each in names if each != name]
    for number in range(wanted - len(names)):
        day = 1000 + number + len(names)
        server.ask(f"""CREATE TABLE pushfleet.delivery_old_{day} PARTITION OF pushfleet.delivery
            FOR VALUES FROM (date_trunc('day', now()) - interval '{day} days')
            TO (date_trunc('day', now()) - interval '{day - 1} days')""", "claims")
