"""Earlier and later processes side by side while the schema moves; see Scripts/upgrade --help."""
import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "chaos"), os.path.join(HERE, "failover")]
from caller import Caller  # noqa: E402
from database import Database, Watch, wait_until  # noqa: E402
from ending import end_on_signals, folder, unbroken  # noqa: E402
from simulator import Simulator  # noqa: E402
from verdict import MUST_BE_ZERO, judge, logged  # noqa: E402

SUBSCRIBERS = """
INSERT INTO pushfleet.subscriber (shard, app_id, transport, address, external_id, language, attributes, registered_at)
SELECT app.shards[1], app.id, 2, left(md5(g::text), 22) || ':APA91b' || md5(g::text) || md5('a' || g), 's-' || g, 'en-US',
    jsonb_build_object('firstName', 'Zoë', 'gate', g % 40), now() - interval '1 hour'
FROM pushfleet.app, generate_series(1, {count}) g
"""
ROLES = ["scheduler", "janitor", "worker", "worker"]


class Upgrade:
    def __init__(self, chosen, directory, say, ends):
        """ends: an ExitStack; what is started here ends when it unwinds."""
        self.chosen, self.directory, self.say = chosen, directory, say
        self.later = os.path.join(os.getcwd(), ".build", "release", "pushfleet")
        self.earlier = os.path.abspath(chosen.earlier)
        with unbroken():
            self.database = Database(os.path.join(directory, "postgres"))
            ends.callback(self.database.stop, "immediate")
        os.environ["PUSHFLEET_DATABASE_URL"] = self.database.url
        self.simulator = Simulator(self.later + "-simulator", os.path.join(directory, "simulator"), 1, ends)
        os.environ["PUSHFLEET_CA_FILE"] = self.simulator.authority
        self.members = []
        self.statuses = []
        self.watch, self.caller = Watch(self.database), Caller(self.database)
        self.figures = {"steps": []}
        ends.callback(self.end)

    def command(self, binary, *arguments):
        result = subprocess.run([binary, *arguments], capture_output=True, text=True)
        if result.returncode:
            raise SystemExit(f"upgrade: pushfleet {' '.join(arguments[:2])}: {result.stderr.strip()}")
        return result.stdout

    def start(self, binary, name):
        started = []
        for number, role in enumerate(ROLES):
            with unbroken(), open(os.path.join(self.directory, f"{name}-{number}-{role}.log"), "wb") as log:
                started.append(subprocess.Popen(
                    [binary, "run", "--roles", role, "--log-format", "json"]
                    + (["--connections", "1", "--streams", "40"] if role == "worker" else []),
                    stdout=log, stderr=log, env={**os.environ, "SWIFT_BACKTRACE": "enable=no"}))
                self.members.append(started[-1])
        return started

    def stop(self, members):
        """One by one, as a careful operator does."""
        for each in members:
            each.send_signal(signal.SIGTERM)
            self.statuses.append(each.wait(timeout=60))
            self.members.remove(each)

    def campaign(self, binary, number):
        with open("Scripts/lib/demo-campaign.json", encoding="utf-8") as file:
            campaign = json.load(file)
        campaign["idempotencyKey"] = campaign["name"] = f"upgrade-{number}"
        path = os.path.join(self.directory, "campaign.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(campaign, file)
        run = json.loads(self.command(binary, "campaign", "create", path, "--json"))["run"]
        self.until(lambda: self.settled(run) > self.chosen.subscribers // 5, "a fifth is settled")
        return run

    def settled(self, run):
        return self.database.number(f"SELECT coalesce(sum(settled), 0) FROM pushfleet.batch WHERE run_id = {run}")

    def until(self, condition, what, seconds=180):
        if not wait_until(condition, seconds, 0.05):
            raise SystemExit(f"upgrade: it did not happen in time: {what}")

    def migrate(self, what, run, *arguments):
        """Moves the schema while the campaign is sent, and sees that it goes on meanwhile and after."""
        before, start = self.settled(run), time.monotonic()
        moved = self.command(self.later, "migrate", *arguments).count("\n")
        seconds = time.monotonic() - start
        meanwhile = self.settled(run) - before
        self.until(lambda: self.settled(run) > before + meanwhile, "outcomes are recorded after it")
        self.figures["steps"].append(
            {"step": what, "migrations": moved, "seconds": round(seconds, 2), "recorded_meanwhile": meanwhile})
        self.say(f"{what}: {moved} migrations in {seconds:.2f} s, {meanwhile:,} outcomes recorded meanwhile")

    def run(self):
        self.command(self.earlier, "migrate", "up")
        level = self.database.number("SELECT max(number) FROM pushfleet.migration")
        self.command(self.earlier, "app", "create", "ferry")
        self.command(self.earlier, "credential", "add", "firebase", "--app", "ferry", "--transport", "fcm", "--file",
                     self.simulator.account, "--endpoint", self.simulator.url)
        self.database.ask(SUBSCRIBERS.format(count=self.chosen.subscribers), timeout=300)
        earlier = self.start(self.earlier, "earlier")
        self.watch.start()
        self.caller.start()
        runs = [self.campaign(self.earlier, 1)]
        self.migrate("migrate up under earlier processes", runs[0], "up")
        later = self.start(self.later, "later")
        self.stop(earlier)
        runs.append(self.campaign(self.later, 2))
        if self.chosen.back:
            again = self.start(self.earlier, "earlier-again")
            self.stop(later)
            self.migrate("migrate down under earlier processes", runs[1], "down", "--to", str(level))
            runs.append(self.campaign(self.earlier, 3))
            later = again
        closed = f"SELECT count(*) FROM pushfleet.run WHERE id IN ({', '.join(map(str, runs))}) AND closed_at IS NOT NULL"
        self.until(lambda: self.database.number(closed) == len(runs), "the runs are closed", 300)
        self.caller.end()
        left = """SELECT (SELECT count(*) FROM pushfleet.notification)
            + (SELECT coalesce(sum(pending + leased + retrying), 0) FROM pushfleet.accounting)"""
        self.until(lambda: self.database.number(left) == 0, "every job has an outcome")
        self.watch.end()
        self.stop(list(self.members))
        return self.judge(level)

    def judge(self, level):
        figures = {**judge(self.database, self.simulator), **self.figures, **self.caller.figures()}
        figures["accounting_violations"] = self.watch.violations
        figures["accounting_reads"] = self.watch.reads
        figures["low_mark_defects"] = logged(self.directory, "batches lay below the low mark")
        figures["errors_logged"] = logged(self.directory, '"level":"error"')
        figures["unexpected_exits"] = sum(status != 0 for status in self.statuses)
        figures["processes"] = len(self.statuses)
        figures["from_migration"] = level
        figures["to_migration"] = self.database.number("SELECT max(number) FROM pushfleet.migration")
        return figures

    def end(self):
        self.watch.ended.set()
        self.caller.ended.set()
        for each in self.members:
            each.kill()
            each.wait()


def faults_of(figures):
    found = [f"{name} is {figures[name]}, not 0"
             for name in MUST_BE_ZERO + ["calls_without_outcome", "calls_repeated", "errors_logged", "repeats"] if figures[name]]
    if any(not step["migrations"] for step in figures["steps"]) or not figures["calls"]:
        found.append("no migration ran, or nobody called: the run proves nothing")
    return found


def options():
    parser = argparse.ArgumentParser(prog="Scripts/upgrade")
    parser.add_argument("--earlier", required=True)
    parser.add_argument("--subscribers", type=int, default=40_000)
    parser.add_argument("--back", action="store_true")
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


def main():
    chosen, start = options(), time.monotonic()

    def say(text):
        print(f"{time.monotonic() - start:7.1f}  {text}", file=sys.stderr, flush=True)

    end_on_signals()
    found = []
    with contextlib.ExitStack() as ends:
        directory = folder(ends, "upgrade", lambda: found or chosen.keep, say)
        figures = Upgrade(chosen, directory, say, ends).run()
        found = faults_of(figures)
    for each in found:
        say("FAULT: " + each)
    figures["seconds"] = round(time.monotonic() - start, 1)
    print(json.dumps(figures))
    sys.exit(1 if found else 0)


main()
