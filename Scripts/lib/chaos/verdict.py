"""Judges a campaign of faults from the database and from the simulator's journal."""
import glob
import os
import subprocess

OUTCOMES = ["delivered", "failed", "unregistered", "expired", "cancelled", "skipped", "in_doubt"]

PREPARE = """
CREATE TABLE public.wire (run_id bigint, number bigint, taken boolean, refused boolean);
"""
SUM = """
CREATE TABLE public.reached AS
SELECT run_id, number, count(*) AS sends, count(*) FILTER (WHERE taken) AS taken,
    count(*) FILTER (WHERE refused) AS refused
FROM public.wire GROUP BY run_id, number;
CREATE TABLE public.fate AS
SELECT run_id, number, count(*) AS outcomes, min(outcome) AS outcome, max(attempts) AS attempts
FROM pushfleet.delivery GROUP BY run_id, number;
ANALYZE public.reached; ANALYZE public.fate;
"""
FIGURES = {
    "targeted": "SELECT coalesce(sum(targeted), 0) FROM total",
    "repeat_bound": "SELECT coalesce(sum(repeat_bound), 0) FROM total",
    # Of those targeted, without an outcome.
    "lost": "SELECT (SELECT coalesce(sum(targeted), 0) FROM total) - (SELECT count(*) FROM public.fate)",
    "unfinished_runs": "SELECT count(*) FROM pushfleet.run WHERE closed_at IS NULL AND NOT standing",
    "second_outcomes": "SELECT count(*) FROM public.fate WHERE outcomes > 1",
    # Recorded as something that says it did not leave, while the provider took it.
    "untrue_outcomes": "SELECT count(*) FROM public.fate JOIN public.reached USING (run_id, number) "
                       "WHERE taken > 0 AND outcome BETWEEN 2 AND 6",
    # Recorded as delivered, while the provider took none.
    "untrue_deliveries": "SELECT count(*) FROM public.fate LEFT JOIN public.reached USING (run_id, number) "
                         "WHERE outcome = 1 AND coalesce(taken, 0) = 0",
    "sent_without_outcome": "SELECT count(*) FROM public.reached LEFT JOIN public.fate USING (run_id, number) "
                            "WHERE outcomes IS NULL",
    # Wire sends beyond one per job and attempt; what was answered with a refusal is an attempt of its own, charged or not.
    "repeats": "SELECT coalesce(sum(greatest(0, sends - greatest(1, attempts, refused + 1))), 0) FROM public.reached "
               "JOIN public.fate USING (run_id, number)",
    "accepted_repeats": "SELECT coalesce(sum(taken - 1), 0) FROM public.reached WHERE taken > 1",
    # Runs whose jobs are not those of one uninterrupted expansion.
    "misexpanded_runs": "SELECT count(*) FROM pushfleet.run JOIN total ON total.run_id = run.id WHERE run.status <> 3 AND NOT run.standing "
                        "AND total.targeted <> (SELECT count(*) FROM pushfleet.subscriber s "
                        "WHERE s.app_id = run.app_id AND s.registered_at <= run.audience_as_of)",
    # Batches whose rows are not as many as their tallies say.
    "miscounted_batches": """
        SELECT count(*) FROM pushfleet.batch b
        LEFT JOIN (SELECT shard, batch_id, count(*) AS n FROM pushfleet.delivery GROUP BY shard, batch_id) d
            ON d.shard = b.shard AND d.batch_id = b.id
        WHERE coalesce(d.n, 0) <> b.settled - b.moved""",
    "audit_problems": """
        SELECT coalesce(sum((SELECT count(*) FROM pushfleet.audit(r.id))), 0)
        FROM (SELECT id FROM pushfleet.run WHERE NOT standing ORDER BY md5(id::text) LIMIT 12) r""",
}
TOTAL = """
    WITH total AS (
        SELECT run_id, targeted, repeat_bound FROM pushfleet.run_total
        UNION ALL
        SELECT run_id, targeted, repeat_bound FROM pushfleet.accounting
    )
"""


def judge(database, simulator):
    """All figures; whether they are good is `faults_of`."""
    counts = simulator.counts()
    path = os.path.join(simulator.directory, "wire")
    with open(path, "w", encoding="utf-8") as file:
        for row in simulator.wire():
            file.write("\t".join(row) + "\n")
    os.chmod(path, 0o644)
    database.ask(PREPARE)
    subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", database.url, "-c",
                    f"\\copy public.wire FROM '{path}'"], check=True)
    database.ask(SUM, timeout=600)
    figures = {name: database.number(TOTAL + sql, timeout=600) for name, sql in FIGURES.items()}
    for code, name in enumerate(OUTCOMES, start=1):
        figures[name] = database.number(f"SELECT count(*) FROM public.fate WHERE outcome = {code}")
    figures["wire_sends"] = counts["wire_sends"]
    figures["devices_shown_more_than_once"] = counts["devices_shown_more_than_once"]
    return figures


MUST_BE_ZERO = [
    "lost", "unfinished_runs", "second_outcomes", "accounting_violations", "untrue_outcomes", "untrue_deliveries",
    "sent_without_outcome", "misexpanded_runs", "miscounted_batches", "audit_problems", "devices_shown_more_than_once",
    "low_mark_defects", "unexpected_exits",
]


def faults_of(figures, assume_sent):
    found = [f"{name} is {figures[name]}, not 0" for name in MUST_BE_ZERO if figures[name]]
    for name in ("repeats", "accepted_repeats"):
        bound = 0 if assume_sent else figures["repeat_bound"]
        if figures[name] > bound:
            found.append(f"{name} is {figures[name]}, beyond {bound}")
    if figures["targeted"] == 0 or figures["delivered"] == 0:
        found.append("nothing was delivered: the run proves nothing")
    return found


def logged(directory, text):
    """How many lines of the members' logs hold it."""
    found = 0
    for path in glob.glob(os.path.join(directory, "*.log")):
        with open(path, encoding="utf-8", errors="replace") as lines:
            found += sum(text in line for line in lines)
    return found
