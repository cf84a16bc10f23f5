"""queue: claim, read and record through our store with sending stubbed, against a classic row-per-job queue."""
import os
import signal
import subprocess
import time

from expand import NARROW, make_run
from harness import BIN, own_cpu, run, until

CLASSIC = {
    # Claim and finish by UPDATE; the job's row holds its outcome.
    "update": """
        UPDATE classic SET state = 1, holder = :client_id, attempt = attempt + 1, lease_until = now() + interval '15 s'
        WHERE id IN (SELECT id FROM classic WHERE state = 0 AND due_at <= now() ORDER BY due_at, id LIMIT {batch}
            FOR UPDATE SKIP LOCKED)
        RETURNING id, subscriber_id;
        UPDATE classic SET state = 2, holder = NULL WHERE holder = :client_id AND state = 1;""",
    # Claim by UPDATE, finish by DELETE and a row of the outcome.
    "delete": """
        UPDATE classic SET state = 1, holder = :client_id, attempt = attempt + 1, lease_until = now() + interval '15 s'
        WHERE id IN (SELECT id FROM classic WHERE state = 0 AND due_at <= now() ORDER BY due_at, id LIMIT {batch}
            FOR UPDATE SKIP LOCKED)
        RETURNING id, subscriber_id;
        WITH done AS (DELETE FROM classic WHERE holder = :client_id AND state = 1 RETURNING id, run_id, subscriber_id)
        INSERT INTO classic_result (job_id, run_id, subscriber_id, outcome) SELECT id, run_id, subscriber_id, 1 FROM done;""",
}


def bench(server, report, options, directory):
    count = options.size or 500_000
    cases = [(batch, workers) for batch in (100, 500, 1000) for workers in (1, 2, 4)]
    classic = {}
    for batch, workers in options.choose(cases, lambda each: f"{each[0]}x{each[1]}"):
        ours, theirs = [], []
        for _ in range(options.rounds):
            theirs.append(best_classic(server, directory, count, batch, workers))
            ours.append(drain(server, count, batch, workers))
        classic[batch, workers] = theirs
        say(report, f"batch {batch}, {workers} workers", ours, theirs)
    if options.choose(["held"], str):
        free, held = [], []
        for _ in range(options.rounds):
            free.append(drain(server, count, 500, 2))
            held.append(drain(server, count, 500, 2, hold=True))
        rates = [each["rate"] for each in held]
        report.figure("queue", "batch 500, 2 workers, snapshot held", "jobs", rates, "1/s", "the same without",
                      [one / other["rate"] for one, other in zip(rates, free)])
        report.figure("queue", "batch 500, 2 workers, snapshot held", "database cpu",
                      [each["server"] for each in held], "s/million")
    if options.choose(["floor"], str):
        floor(server, report, options, directory, count)
    if options.choose(["crowd"], str):
        between(server, report, options, count)


def floor(server, report, options, directory, count):
    """Against what PostgreSQL does at most: the rows read out, as many outcomes copied in, the rows deleted, in one session
    without a lease or any rule."""
    ours, theirs = [], []
    path = os.path.join(directory, "rows.copy")
    for _ in range(options.rounds):
        ours.append(drain(server, count, 500, 2))
        server.ask("DROP DATABASE IF EXISTS classic WITH (FORCE)")
        server.ask("CREATE DATABASE classic")
        server.ask(NARROW + "; CREATE INDEX ON narrow (batch_id); CREATE TABLE outcome (LIKE narrow)", "classic")
        server.ask(f"INSERT INTO narrow SELECT g / 500, 1, g, g, 1, 0, g % 500, 0 FROM generate_series(1, {count}) g", "classic")
        server.ask("VACUUM ANALYZE narrow", "classic")
        server.ask("CHECKPOINT")
        cpu, start = server.cpu(), time.monotonic()
        run(["psql", "-XAtq", server.url("classic"), "-c", f"\\copy narrow TO '{path}'", "-c", f"\\copy outcome FROM '{path}'",
             "-c", "DELETE FROM narrow"])
        wall = time.monotonic() - start
        theirs.append({"rate": count / wall, "server": (server.cpu() - cpu) * 1e6 / count})
    rates = [each["rate"] for each in ours]
    report.figure("queue", "batch 500, 2 workers", "jobs", rates, "1/s", "raw rows without a rule",
                  [one / other["rate"] for one, other in zip(rates, theirs)])
    report.figure("queue", "batch 500, 2 workers", "database cpu", [each["server"] for each in ours], "s/million",
                  "raw rows without a rule", [one["server"] / other["server"] for one, other in zip(ours, theirs)])
    report.figure("queue", "raw rows without a rule", "rows", [each["rate"] for each in theirs], "1/s")
    report.figure("queue", "raw rows without a rule", "database cpu", [each["server"] for each in theirs], "s/million")


def between(server, report, options, count):
    """The same beside many deliveries of the past and many jobs that wait."""
    many = 10_000_000 if options.full else max(count * 5, min(1_000_000, count * 50))
    free, amid = [], []
    for _ in range(options.rounds):
        free.append(drain(server, count, 500, 2))
        amid.append(drain(server, count, 500, 2, many=many))
    rates = [each["rate"] for each in amid]
    case = f"batch 500, 2 workers, {many:,} behind, {many:,} ahead"
    report.figure("queue", case, "jobs", rates, "1/s", "the same without", [one / other["rate"] for one, other in zip(rates, free)])
    report.figure("queue", case, "database cpu", [each["server"] for each in amid], "s/million", "the same without",
                  [one["server"] / other["server"] for one, other in zip(amid, free)])


def crowd(server, name, subscribers, many):
    """Waiting jobs of other runs, each as large as the audience, and as many deliveries of runs that are over."""
    for _ in range(-(-many // subscribers)):
        which = make_run(server, name, status=2)
        run([os.path.join(BIN, "Bench"), "expand", str(which), "--database", server.url(name)])
    server.ask(f"""
        INSERT INTO pushfleet.delivery (run_id, number, subscriber_id, batch_id, shard, ordinal, outcome, attempts, status,
            provider_id, language, sent_at)
        SELECT -1 - g / {subscribers}, g % {subscribers} + 1, g % {subscribers} + 1, -1 - g / 500, 0, g % 500, 1, 1, 200,
            'projects/demo/messages/' || g, 'en', now()
        FROM generate_series(1, {many}) g""", name)


def say(report, case, ours, theirs):
    rates = [each["rate"] for each in ours]
    report.figure("queue", case, "jobs", rates, "1/s", "classic row queue",
                  [one / other["rate"] for one, other in zip(rates, theirs)])
    report.figure("queue", case, "database cpu", [each["server"] for each in ours], "s/million", "classic row queue",
                  [one["server"] / other["server"] for one, other in zip(ours, theirs)])
    report.figure("queue", case, "worker cpu", [each["client"] for each in ours], "s/million")
    report.figure("queue", case + ", classic", "jobs", [each["rate"] for each in theirs], "1/s")
    report.figure("queue", case + ", classic", "database cpu", [each["server"] for each in theirs], "s/million")


def best_classic(server, directory, count, batch, workers):
    """The better of two ways, each on tables of its own."""
    results = []
    for name, script in CLASSIC.items():
        server.ask("DROP DATABASE IF EXISTS classic WITH (FORCE)")
        server.ask("CREATE DATABASE classic")
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "queue.sql"), encoding="utf-8") as file:
            server.ask(file.read(), "classic")
        server.ask(f"INSERT INTO classic (subscriber_id, run_id) SELECT g, 1 FROM generate_series(1, {count}) g", "classic")
        server.ask("VACUUM ANALYZE classic", "classic")
        server.ask("CHECKPOINT")
        path = os.path.join(directory, f"{name}.sql")
        with open(path, "w", encoding="utf-8") as file:
            # A statement to a line, as pgbench wants it.
            file.write(" ".join(script.format(batch=batch).split()).replace("; ", ";\n") + "\n")
        turns = -(-count // batch // workers)
        cpu, start = server.cpu(), time.monotonic()
        run(["pgbench", "-n", "-M", "prepared", "-c", str(workers), "-j", str(workers), "-t", str(turns), "-f", path,
             server.url("classic")])
        wall = time.monotonic() - start
        results.append({"rate": count / wall, "server": (server.cpu() - cpu) * 1e6 / count, "way": name})
    return max(results, key=lambda each: each["rate"])


def drain(server, count, batch, workers, hold=False, many=0, before=lambda: None):
    """How soon so many jobs are done: of one run, or with `many` of that and others, which all go on waiting.

    The clock runs from the first outcome to the last, as peers' runs from their first job: until a worker sees that there is
    something, up to a second goes by, however much there is. CPU is counted from before that on.
    """
    if many:
        url = server.fresh("queue", count, prepare=lambda name: crowd(server, name, count, many), label=f"_crowd_{many}")
    else:
        url = server.fresh("queue", count)
    which = make_run(server, "queue", batch_size=batch, status=2)
    run([os.path.join(BIN, "Bench"), "expand", str(which), "--database", url])
    server.ask("CHECKPOINT")
    logs = subprocess.DEVNULL
    roles = subprocess.Popen([os.path.join(BIN, "pushfleet"), "run", "--roles", "scheduler,janitor", "--database", url],
                             stdout=logs, stderr=logs)
    fleet = [subprocess.Popen([os.path.join(BIN, "Bench"), "queue", "--database", url], stdout=logs, stderr=logs)
             for _ in range(workers)]
    holder, session = None, server.session("queue")
    try:
        if hold:
            holder = server.session("queue")
            holder.ask("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pushfleet.app")
        until(lambda: has_started(session, workers))
        before()
        cpu, clients = server.cpu(), sum(cpu_of(each) for each in fleet)
        session.ask("UPDATE pushfleet.run SET status = 1 WHERE NOT standing")
        settled = [0.0]

        def is_done():
            settled[0] = session.number(SETTLED)
            return settled[0] >= count
        # Seldom: beside a crowd it is a long look.
        until(is_done, pause=0.2)
        spent, clients_spent = server.cpu() - cpu, sum(cpu_of(each) for each in fleet) - clients
        done, seconds = (float(each) for each in session.ask(PACE.format(count=count))[0])
        return {"rate": done / seconds, "server": spent * 1e6 / settled[0], "client": clients_spent * 1e6 / settled[0]}
    finally:
        for each in [roles, *fleet]:
            each.send_signal(signal.SIGTERM)
        for each in [roles, *fleet]:
            each.wait()
        session.close()
        if holder:
            holder.close()


SETTLED = "SELECT coalesce(sum(settled), 0) FROM pushfleet.batch WHERE run_id > 0 AND state <> 0"
# Of the first `count` outcomes: those after the first, and the seconds that they took.
PACE = """
    SELECT count(*) FILTER (WHERE at > first), extract(epoch FROM max(at) - first)
    FROM (
        SELECT at, min(at) OVER () AS first
        FROM (SELECT at FROM pushfleet.delivery WHERE run_id > 0 ORDER BY at LIMIT {count}) done
    ) timed
    GROUP BY first"""


def has_started(session, workers):
    """Everybody is there, and what a process does when it starts is over: zones read, addresses counted."""
    return session.number(f"""
        SELECT ((SELECT count(*) FROM pushfleet.worker) >= {workers}
            AND EXISTS (SELECT FROM pushfleet.token_tally)
            AND NOT EXISTS (
                SELECT FROM pg_stat_activity
                WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()
                    AND clock_timestamp() - query_start > interval '10 ms'
            ))::int""") == 1


def cpu_of(process):
    return own_cpu(process.pid)
