"""growth: what `notify()` leaves behind. `delivery` grows with the calls, and `batch` with how often they are collected;
retention bounds both. Nothing else may grow."""
import threading
import time

from fleet import Fleet
from harness import until

SUBSCRIBERS = 20_000
CALLERS = 2
CALLS_EACH = 2000
# Collecting keeps up: what is measured is what stays, not how long a queue can get.
AHEAD = 30_000

SIZES = """
SELECT coalesce(parent.relname, of.relname), sum(pg_total_relation_size(of.oid))
FROM pg_class of
LEFT JOIN pg_inherits i ON i.inhrelid = of.oid
LEFT JOIN pg_class parent ON parent.oid = i.inhparent
WHERE of.relnamespace = 'pushfleet'::regnamespace AND of.relkind = 'r'
GROUP BY 1"""


def statement(calls):
    return f"""
        SELECT count(pushfleet.notify(
            'ferry', jsonb_build_object('subscriber', 1 + (random() * {SUBSCRIBERS - 1})::integer),
            '{{"content": {{"en": {{"title": "Hi", "body": "Your ferry waits."}}, "_default": "en"}}}}'))
        FROM generate_series(1, {calls})"""


def bench(server, report, options, directory):
    calls = options.size or (10_000_000 if options.full else 200_000)
    if not options.choose([calls], lambda _: "notify"):
        return
    url = server.fresh("growth", SUBSCRIBERS)
    with Fleet(server, directory, url, workers=2) as fleet:
        # The first fifth makes each table as large as calls under way need it.
        call(fleet, report, calls // 5, 0)
        drop_buckets(fleet)
        before = sizes(fleet)
        start = time.monotonic()
        call(fleet, report, calls - calls // 5, calls // 5)
        seconds = time.monotonic() - start
        drop_buckets(fleet)
        after = sizes(fleet)
        accepted = fleet.provider.counts()["accepted"]
        if accepted != calls:
            raise RuntimeError(f"{calls} calls, {accepted} requests")
    case = f"{calls:,} notify() calls"
    report.figure("growth", case, "sent", [(calls - calls // 5) / seconds], "1/s")
    others = 0
    for table in sorted(after):
        grown = after[table] - before.get(table, 0)
        if table != "delivery":
            others += grown
        if grown > 0 or table == "delivery":
            report.figure("growth", case, table, [grown / 1024], "KiB")
    report.figure("growth", case, "all but delivery", [others / 1024], "KiB", "of delivery",
                  [others / (after["delivery"] - before["delivery"])])


def sizes(fleet):
    """Bytes of each table with its indexes, partitions together, once all that was called for is sent."""
    return {name: int(size) for name, size in fleet.server.ask(SIZES, fleet.database)}


def drop_buckets(fleet):
    """As if six hours had passed, after which a bucket of jobs is sealed, and the ten minutes after which it goes."""
    def ask(sql):
        return fleet.server.number(sql, fleet.database)
    last = ask("UPDATE pushfleet.bucket SET opened_at = opened_at - interval '7 hours' WHERE sealed_at IS NULL RETURNING id")
    until(lambda: ask(f"SELECT count(*) FROM pushfleet.bucket WHERE id = {last} AND sealed_at IS NOT NULL"))
    ask(f"UPDATE pushfleet.bucket SET sealed_at = sealed_at - interval '11 minutes' WHERE id = {last} RETURNING id")
    until(lambda: ask(f"SELECT count(*) FROM pushfleet.bucket WHERE id <= {last}") == 0)


def call(fleet, report, count, made):
    """Calls, 2,000 to a transaction, and waits until all of them are sent."""
    lock, failures = threading.Lock(), []
    left = count

    def take():
        nonlocal left
        with lock:
            taken = min(CALLS_EACH, left)
            left -= taken
            return taken

    def caller():
        try:
            while taken := take():
                fleet.server.ask(statement(taken), fleet.database)
                until(lambda: made + count - left - fleet.provider.counts()["accepted"] < AHEAD, pause=0.1)
        except Exception as failure:
            failures.append(failure)

    callers = [threading.Thread(target=caller) for _ in range(CALLERS)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    if failures:
        raise failures[0]
    until(lambda: fleet.provider.counts()["accepted"] >= made + count)
    until(lambda: fleet.server.number("SELECT count(*) FROM pushfleet.batch WHERE state IN (0, 1, 5)", fleet.database) == 0)
    report.note(f"growth: {made + count:,} calls sent")
