"""expand: one campaign to jobs, against writing the same columns without any rule."""
import os

from harness import BIN, Timed

NARROW = """
CREATE TABLE narrow (
    batch_id bigint, run_id bigint, number bigint, subscriber_id bigint, bucket_id int, shard smallint, ordinal smallint,
    attempts smallint, content_version bigint, expires_at timestamptz
)"""
PLAIN = """
INSERT INTO narrow (batch_id, run_id, number, subscriber_id, bucket_id, shard, ordinal, attempts)
SELECT id / 500, 1, id, id, 1, shard, (id % 500)::smallint, 0 FROM pushfleet.subscriber WHERE app_id = 1 ORDER BY id"""


def bench(server, report, options, directory):
    count = options.size or 1_000_000
    figures = {name: [] for name in ("ours", "plain", "copy")}
    for round_number in range(options.rounds):
        url = server.fresh("expand", count)
        run = make_run(server, "expand")
        figures["ours"].append(
            measure(server, [os.path.join(BIN, "Bench"), "expand", str(run), "--database", url], "expand", count))
        made = int(server.number("SELECT count(*) FROM pushfleet.job", "expand"))
        if made != count:
            raise RuntimeError(f"{made} jobs of {count}")
        server.ask(NARROW, "expand")
        figures["plain"].append(measure(server, ["psql", "-XAtqc", PLAIN, url], "expand", count))
        path = os.path.join(directory, "narrow.copy")
        server.ask(f"\\copy narrow TO '{path}'", "expand")
        server.ask("TRUNCATE narrow", "expand")
        figures["copy"].append(measure(server, ["psql", "-XAtqc", f"\\copy narrow FROM '{path}'", url], "expand", count))
        os.unlink(path)
    size = f"{count:,} subscribers"
    baselines = {"plain": "INSERT ... SELECT, no rule", "copy": "COPY, no rule"}
    rates = [each["rate"] for each in figures["ours"]]
    for name, words in baselines.items():
        against = [each["rate"] for each in figures[name]]
        report.figure("expand", size, "rows", rates, "1/s", words, [one / other for one, other in zip(rates, against)])
        report.figure("expand", f"{size}, {words}", "rows", against, "1/s")
    for metric, unit in (("cpu", "s/million"), ("wal", "bytes/row")):
        for name, words in {"ours": "", **baselines}.items():
            case = f"{size}, {words}" if words else size
            report.figure("expand", case, metric, [each[metric] for each in figures[name]], unit)


def make_run(server, database, batch_size=500, status=1):
    """A run of the app's whole audience that nobody has expanded."""
    return int(server.ask(f"""
        WITH made AS (
            INSERT INTO pushfleet.credential (app_id, name, transport, file) VALUES (1, 'bench', 2, '/none')
            ON CONFLICT (app_id, name) DO UPDATE SET file = excluded.file
            RETURNING id
        ),
        way AS (
            INSERT INTO pushfleet.route (app_id, transport, credential_id) SELECT 1, 2, id FROM made
            ON CONFLICT (app_id, transport, service) DO NOTHING
        ),
        content AS (
            INSERT INTO pushfleet.content_version (message)
            VALUES ('{{"content": {{"en": {{"title": "Hi", "body": "{{{{firstName|Hello}}}}"}}, "_default": "en"}}}}')
            RETURNING id
        ),
        run AS (
            INSERT INTO pushfleet.run (app_id, batch_size, status, content_version, ttl)
            SELECT 1, {batch_size}, {status}, id, interval '1 day' FROM content
            RETURNING id
        )
        INSERT INTO pushfleet.run_progress (shard, run_id) SELECT 0, id FROM run RETURNING run_id""", database)[0][0])


def measure(server, command, database, count):
    wal = "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"
    server.ask("CHECKPOINT")
    before, cpu = server.number(wal), server.cpu()
    timed = Timed(command)
    server_cpu = server.cpu() - cpu
    return {"rate": count / timed.wall, "cpu": server_cpu * 1e6 / count, "wal": (server.number(wal) - before) / count,
            "client": timed.cpu * 1e6 / count}
