"""A primary dies in mid-campaign and its standby takes over; see Scripts/failover --help."""
import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time

LIB = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path += [os.path.join(LIB, "chaos"), LIB]
from caller import Caller  # noqa: E402
from database import Watch, wait_until  # noqa: E402
from ending import end_on_signals, remove, unbroken  # noqa: E402
from pair import Pair  # noqa: E402
from reader import Reader  # noqa: E402
from simulator import Simulator  # noqa: E402
from verdict import MUST_BE_ZERO, judge, logged  # noqa: E402


def options():
    parser = argparse.ArgumentParser(
        prog="Scripts/failover", description="Kills a primary; its standby takes over, promoted by the script or by Patroni.",
        epilog="Example: Scripts/failover --patroni --subscribers 20000 --again")
    parser.add_argument("--subscribers", type=int, default=40_000, help="audience of the campaign (default 40000)")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--in-doubt", choices=["retry", "assume_sent"], default="retry")
    parser.add_argument("--again", action="store_true", help="then a new standby of the new primary, and once more")
    parser.add_argument("--patroni", action="store_true",
                        help="two Patroni members and an etcd with the settings of Deploy: Patroni is killed with its "
                        "primary, and the other member promotes itself; installs Debian's packages if they are missing")
    parser.add_argument("--keep", action="store_true", help="keep logs and state, and say where")
    return parser.parse_args()


SUBSCRIBERS = """
INSERT INTO pushfleet.subscriber (shard, app_id, transport, address, external_id, language, attributes, registered_at)
SELECT app.shards[1], app.id, 2, left(md5(g::text), 22) || ':APA91b' || md5(g::text) || md5('a' || g), 's-' || g,
    (ARRAY['en-US', 'pt-BR', 'de-DE', 'fr'])[1 + g % 4], jsonb_build_object('firstName', 'Zoë', 'gate', g % 40),
    now() - interval '1 hour'
FROM pushfleet.app, generate_series(1, {count}) g
"""
OLD_DAY = """SET ROLE fleet_owner; SELECT pushfleet.ensure_day('delivery', date '2024-03-01');
    INSERT INTO pushfleet.tally_mark (shard, folded_until) VALUES (0, now())"""
ROLES = ["scheduler", "scheduler", "janitor", "janitor"]


def pair_of(chosen):
    if not chosen.patroni:
        return Pair
    # What it imports comes with Debian's package of Patroni.
    from patroni_pair import PatroniPair
    return PatroniPair


class Failover:
    def __init__(self, chosen, directory, say, ends):
        self.chosen, self.directory, self.say, self.ends = chosen, directory, say, ends
        self.command = os.path.join(os.getcwd(), ".build", "release", "pushfleet")
        self.pair = pair_of(chosen)(directory)
        self.members, self.reader, self.simulator = [], None, None
        ends.callback(self.pair.end)
        self.watch = Watch(self.pair)
        self.caller = Caller(self.pair)
        self.figures = {"outages": []}

    def pushfleet(self, *arguments, url=None):
        result = subprocess.run([self.command, *arguments, "--database", url or self.pair.url_of("fleet_owner")], capture_output=True, text=True)
        if result.returncode:
            raise SystemExit(f"failover: pushfleet {' '.join(arguments[:2])}: {result.stderr.strip()}")
        return result.stdout

    def prepare(self):
        self.pair.start()
        self.simulator = Simulator(self.command + "-simulator", os.path.join(self.directory, "simulator"), 1, self.ends)
        os.environ["PUSHFLEET_CA_FILE"] = self.simulator.authority
        self.pair.make_logins()
        os.environ["PUSHFLEET_OWNER_DATABASE_URL"] = self.pair.url_of("fleet_owner")
        self.pushfleet("migrate", "up")
        self.pushfleet("app", "create", "ferry")
        self.pushfleet("credential", "add", "firebase", "--app", "ferry", "--transport", "fcm", "--file", self.simulator.account,
                       "--endpoint", self.simulator.url)
        self.pair.ask(SUBSCRIBERS.format(count=self.chosen.subscribers), timeout=300)
        self.pair.ask(OLD_DAY)
        with unbroken():
            self.reader = Reader(self.pair.standby_url)
        self.start(ROLES + ["worker"] * self.chosen.workers)

    def start(self, roles):
        for role in roles:
            name = f"{role}-{len(self.members)}"
            with unbroken(), open(os.path.join(self.directory, name + ".log"), "wb") as log:
                self.members.append((name, subprocess.Popen(
                    [self.command, "run", "--roles", role, "--database", self.pair.url_of(f"fleet_{role}"), "--log-format", "json"]
                    # So that the campaign lasts.
                    + (["--connections", "2", "--streams", "15"] if role == "worker" else []),
                    stdout=log, stderr=log, env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})))

    def campaign(self, number):
        with open("Scripts/lib/demo-campaign.json", encoding="utf-8") as file:
            campaign = json.load(file)
        campaign["delivery"]["inDoubt"] = self.chosen.in_doubt
        campaign["idempotencyKey"] = campaign["name"] = f"failover-{number}"
        path = os.path.join(self.directory, "campaign.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(campaign, file)
        return json.loads(self.pushfleet("campaign", "create", path, "--json"))["run"]

    def settled(self, run):
        rows = self.pair.try_ask(f"SELECT coalesce(sum(settled), 0) FROM pushfleet.batch WHERE run_id = {run}")
        return int(rows[0][0]) if rows else 0

    def read_standby(self, run):
        """Every view and explain(), from the standby, while the campaign runs: milliseconds of the slowest."""
        url = self.pair.standby_url
        gone = "SELECT count(*) FROM pg_class WHERE relname = 'delivery_20240301'"
        self.until(lambda: self.pair.ask(gone) == [["0"]], 60, "the janitor has dropped an old day")
        self.until(lambda: self.pair.ask_standby(gone) == [["0"]], 60, "the standby has dropped it, beside its reader")
        self.figures["standby_reader_disturbed"] = int(not self.reader.is_undisturbed())
        views = [row[0] for row in self.pair.ask_standby(
            "SELECT relname FROM pg_class WHERE relnamespace = 'pushfleet_report'::regnamespace AND relkind = 'v' ORDER BY 1")]
        took = {}
        for view in views:
            plan = json.loads("".join(row[0] for row in self.pair.ask_standby(
                f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) SELECT * FROM pushfleet_report.{view}")))[0]
            took[view] = plan["Planning Time"] + plan["Execution Time"]
        self.pushfleet("report", "show", "runs", url=url)
        self.pushfleet("report", "run", str(run), url=self.pair.standby_url_of("fleet_owner"))
        self.pushfleet("explain", "--app", "ferry", "--external-id", "s-7", url=url)
        slowest = max(took, key=took.get)
        self.figures["views_on_standby"] = len(views)
        self.figures["slowest_view_on_standby"] = {"view": slowest, "ms": round(took[slowest], 1)}

    def strike(self, number):
        run = self.campaign(number)
        third = self.chosen.subscribers // 3
        self.until(lambda: self.settled(run) > third // 10, 120, "the campaign is under way")
        if number == 1:
            self.read_standby(run)
        self.until(lambda: self.settled(run) > third, 120, "a third is settled")
        at_kill = self.settled(run)
        self.say(f"killing the primary, {at_kill:,} of {self.chosen.subscribers:,} settled")
        start = time.monotonic()
        self.pair.fail_over()
        promoted = time.monotonic() - start
        before = self.settled(run)
        self.until(lambda: self.settled(run) > before, 60, "outcomes are recorded again")
        resumed = time.monotonic() - start
        self.figures["outages"].append(
            {"settled_at_kill": at_kill, "promoted_s": round(promoted, 2), "recording_again_s": round(resumed, 2)})
        self.say(f"promoted after {promoted:.2f} s, recording again after {resumed:.2f} s")
        return run

    def until(self, condition, seconds, what):
        if not wait_until(condition, seconds, 0.05):
            raise SystemExit(f"failover: it did not happen in time: {what}")

    def run(self):
        self.watch.start()
        self.caller.start()
        runs = [self.strike(1)]
        if self.chosen.again:
            self.say("a new standby")
            self.pair.add_standby()
            runs.append(self.strike(2))
        closed = f"SELECT count(*) FROM pushfleet.run WHERE id IN ({', '.join(map(str, runs))}) AND closed_at IS NOT NULL"
        self.until(lambda: self.pair.try_ask(closed) == [[str(len(runs))]], 240, "the runs are closed")
        self.caller.end()
        self.until(lambda: self.pair.try_ask("SELECT count(*) FROM pushfleet.notification") == [["0"]], 60, "no notification waits")
        open_jobs = "SELECT coalesce(sum(pending + leased + retrying), 0) FROM pushfleet.accounting"
        self.until(lambda: self.pair.try_ask(open_jobs) == [["0"]], 60, "every job has an outcome")
        self.watch.end()
        return self.judge()

    def judge(self):
        exits = [name for name, process in self.members if process.poll() is not None]
        for _, process in self.members:
            process.terminate()
        for _, process in self.members:
            process.wait()
        figures = {**judge(self.pair, self.simulator), **self.figures, **self.caller.figures()}
        figures["accounting_violations"] = self.watch.violations
        figures["accounting_reads"] = self.watch.reads
        figures["low_mark_defects"] = logged(self.directory, "batches lay below the low mark")
        figures["unexpected_exits"] = len(exits)
        figures["in_doubt_policy"] = self.chosen.in_doubt
        figures["promoted_by"] = "patroni" if self.chosen.patroni else "script"
        return figures

    def end(self):
        self.watch.ended.set()
        self.caller.ended.set()
        for _, process in self.members:
            if process.poll() is None:
                process.kill()
                process.wait()
        if self.reader:
            self.reader.end()


def faults_of(figures):
    found = [f"{name} is {figures[name]}, not 0" for name in MUST_BE_ZERO + ["calls_without_outcome", "standby_reader_disturbed"] if figures[name]]
    # Of single notifications none is assume_sent: their share of the bound counts.
    for name in ("repeats", "accepted_repeats"):
        if figures[name] > figures["repeat_bound"]:
            found.append(f"{name} is {figures[name]}, beyond {figures['repeat_bound']}")
    if not figures["delivered"] or not figures["calls"]:
        found.append("nothing was delivered or called: the run proves nothing")
    return found


def main():
    chosen = options()
    start = time.monotonic()

    def say(text):
        print(f"{time.monotonic() - start:7.1f}  {text}", file=sys.stderr, flush=True)

    end_on_signals()
    with contextlib.ExitStack() as ends:
        directory = tempfile.mkdtemp(prefix="pushfleet-failover-")
        found = None
        ends.push(lambda _, error, __: say(f"kept: {directory}") if chosen.keep else remove(directory, error, found == []))
        os.chmod(directory, 0o755)
        failover = Failover(chosen, directory, say, ends)
        ends.callback(failover.end)
        failover.prepare()
        say("the fleet is up")
        figures = failover.run()
        found = faults_of(figures)
        for each in found:
            say("FAULT: " + each)
    figures["seconds"] = round(time.monotonic() - start, 1)
    print(json.dumps(figures))
    sys.exit(1 if found else 0)


main()
