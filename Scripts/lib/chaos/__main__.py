"""Campaign after campaign through a fleet that is killed, stalled and cut off; see Scripts/chaos --help."""
import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from database import Database, Watch, wait_until  # noqa: E402
from ending import end_on_signals, folder, unbroken  # noqa: E402
from faults import Faults
from fleet import Fleet, Relay
from outage import Outage, outage_faults
from simulator import Simulator
from verdict import faults_of, judge, logged
from wave import Wave, wave_faults


def options():
    parser = argparse.ArgumentParser(prog="Scripts/chaos", description="Proves the promises under faults.")
    parser.add_argument("--minutes", type=float, default=5, help="how long, settlement included (default 5)")
    parser.add_argument("--seed", type=int, default=None, help="decides all faults (default: drawn and printed)")
    parser.add_argument("--json", action="store_true", help="end with one JSON line on standard output")
    parser.add_argument("--subscribers", type=int, help="audience of each campaign (default 20000; an outage 40000)")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--in-doubt", choices=["retry", "assume_sent"], default="retry")
    parser.add_argument("--outage", choices=["half-open", "stopped", "killed"],
                        help="in place of all else: one outage of the database, and how soon the work goes on")
    parser.add_argument("--wave", action="store_true",
                        help="in place of all else: a provider that calls every address dead; none is retired")
    parser.add_argument("--seconds", type=float, help="how long the outage (default 120) or the wave (default 300) lasts")
    parser.add_argument("--keep", action="store_true", help="keep logs and state, and say where")
    chosen = parser.parse_args()
    if chosen.seconds is None:
        chosen.seconds = 300 if chosen.wave else 120
    if chosen.subscribers is None:
        chosen.subscribers = 40_000 if chosen.outage else 20_000
    return chosen


SUBSCRIBERS = """
INSERT INTO pushfleet.subscriber (shard, app_id, transport, address, external_id, language, attributes, registered_at)
SELECT app.shards[1], app.id, 2, left(md5(g::text), 22) || ':APA91b' || md5(g::text) || md5('a' || g), 's-' || g,
    (ARRAY['en-US', 'pt-BR', 'de-DE', 'fr', 'tr', 'zh-Hant-TW', 'es-MX', 'xx-Unknown'])[1 + g % 8],
    jsonb_build_object('firstName', 'Zoë', 'gate', g % 40), now() - interval '1 hour'
FROM pushfleet.app, generate_series(1, {count}) g
"""


class Chaos:
    SETTLEMENT = 45

    def __init__(self, chosen, directory, say, ends):
        """ends: an ExitStack; what is started here ends when it unwinds."""
        self.chosen, self.directory, self.say = chosen, directory, say
        self.draw = random.Random(chosen.seed)
        binaries = os.path.join(os.getcwd(), ".build", "release")
        self.command = os.path.join(binaries, "pushfleet")
        with unbroken():
            self.database = Database(os.path.join(directory, "postgres"))
            ends.callback(self.database.stop, "immediate")
        self.simulator = Simulator(
            os.path.join(binaries, "pushfleet-simulator"), os.path.join(directory, "simulator"), chosen.seed, ends)
        os.environ["PUSHFLEET_DATABASE_URL"] = self.database.through(self.database.port, "fleet_owner")
        os.environ["PUSHFLEET_CA_FILE"] = self.simulator.authority
        self.relay = Relay(f"127.0.0.1:{self.database.port}", 4 + chosen.workers, ends)
        self.provider_relay = Relay(f"127.0.0.1:{self.simulator.port}", 1, ends)
        self.fleet = Fleet(self.command, directory, self.database, self.relay, chosen.workers, self.draw)
        self.fleet.authority = self.simulator.authority
        self.faults = Faults(self.draw, self.database, self.fleet, self.simulator, self.provider_relay, say)
        self.watch = Watch(self.database)
        self.campaigns = 0
        ends.callback(self.end)

    def pushfleet(self, *arguments):
        result = subprocess.run([self.command, *arguments], capture_output=True, text=True)
        if result.returncode:
            self.say(f"pushfleet {' '.join(arguments[:2])}: {result.stderr.strip()}")
            result.check_returncode()
        return result.stdout

    def prepare(self):
        self.database.make_logins()
        self.pushfleet("migrate", "up")
        self.pushfleet("app", "create", "ferry")
        self.pushfleet("credential", "add", "firebase", "--app", "ferry", "--transport", "fcm", "--file",
                       self.simulator.account, "--endpoint", f"https://127.0.0.1:{self.provider_relay.ports[0]}")
        self.database.ask(SUBSCRIBERS.format(count=self.chosen.subscribers), timeout=300)
        # Small pages and batches meet more faults each.
        self.database.ask("ALTER TABLE pushfleet.run ALTER COLUMN batch_size SET DEFAULT 200")

    def run(self):
        start = time.monotonic()
        end = start + self.chosen.minutes * 60
        calm_at = max(start + 20, end - self.SETTLEMENT)
        self.watch.start()
        self.fleet.start()
        strike_at = start + 2
        while (now := time.monotonic()) < calm_at:
            if now >= strike_at:
                self.faults.strike()
                strike_at = now + self.draw.uniform(0.3, 1.8)
            self.faults.tend()
            self.fleet.tend(deadly=True)
            if now < calm_at - 6:
                self.feed(end - now)
            time.sleep(0.1)
        self.settle()
        return self.result(time.monotonic() - start)

    def feed(self, left):
        """Some campaigns at a time, of lives short and long enough."""
        rows = self.database.try_ask("SELECT count(*) FROM pushfleet.run WHERE closed_at IS NULL AND status <> 3 AND NOT standing")
        if rows is None or int(rows[0][0]) >= 5:
            return
        with open("Scripts/lib/demo-campaign.json", encoding="utf-8") as file:
            campaign = json.load(file)
        life = self.draw.choice([20, 60, 600])
        campaign["delivery"]["ttlSeconds"] = max(5, min(life, int(left) - 12))
        campaign["delivery"]["inDoubt"] = self.chosen.in_doubt
        campaign["idempotencyKey"] = campaign["name"] = f"chaos-{self.campaigns + 1}"
        path = os.path.join(self.directory, "campaign.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(campaign, file)
        try:
            self.pushfleet("campaign", "create", path, "--json")
        except subprocess.CalledProcessError:
            # The database is away; under the same key it is the same campaign, should the reply have been lost.
            return
        self.campaigns += 1

    def settle(self):
        self.say("calm; settling")
        self.faults.calm()
        limit = time.monotonic() + max(90, self.SETTLEMENT * 2)
        for member in self.fleet.members:
            if member.point:
                member.terminate()
        while time.monotonic() < limit:
            self.fleet.tend(deadly=False)
            rows = self.database.try_ask("SELECT count(*) FROM pushfleet.run WHERE closed_at IS NULL AND NOT standing")
            if rows is not None and rows[0][0] == "0":
                break
            time.sleep(0.3)
        self.watch.end()
        self.fleet.end()

    def result(self, seconds):
        figures = judge(self.database, self.simulator)
        counts = self.faults.counts
        figures["accounting_violations"] = self.watch.violations
        figures["low_mark_defects"] = logged(self.directory, "batches lay below the low mark")
        figures["unexpected_exits"] = len(self.fleet.unexpected)
        figures["kills"] = self.fleet.kills
        # Of processes, and of the database.
        figures["restarts"] = self.fleet.restarts + counts["database immediate"] + counts["database fast"]
        figures["database_restarts"] = counts["database immediate"] + counts["database fast"]
        figures["deaths_at_named_points"] = self.fleet.deaths_at_points
        figures["named_points_hit"] = len(self.fleet.points_hit)
        figures["stops"] = counts["stop"] + counts["stop twice"]
        figures["stalls"] = counts["stall"] + counts["long stall"]
        figures["severed"] = counts["sever"] + counts["sever provider"]
        figures["half_open"] = counts["silence"] + counts["silence provider"]
        figures["accounting_reads"] = self.watch.reads
        figures["campaigns"] = self.campaigns
        figures["seconds"] = round(seconds, 1)
        figures["seed"] = self.chosen.seed
        figures["in_doubt_policy"] = self.chosen.in_doubt
        if self.watch.first:
            self.say(f"first accounting violation: {self.watch.first}")
        for each in self.fleet.unexpected:
            self.say(f"unexpected end: {each}")
        return figures

    def end(self):
        self.watch.ended.set()
        for member in self.fleet.members:
            if member.is_up:
                member.kill()
                member.process.wait()
        self.faults.end()


ORDER = [
    "kills", "restarts", "targeted", "delivered", "failed", "unregistered", "expired", "cancelled", "skipped", "in_doubt",
    "lost", "second_outcomes", "accounting_violations", "repeats", "repeat_bound", "devices_shown_more_than_once",
]


def replay(chosen):
    if chosen.outage:
        return f"--outage {chosen.outage} --seconds {chosen.seconds:g}"
    return f"--wave --seconds {chosen.seconds:g}" if chosen.wave else f"--minutes {chosen.minutes:g}"


def main():
    chosen = options()
    if chosen.seed is None:
        chosen.seed = random.SystemRandom().randrange(1, 1 << 31)
    start = time.monotonic()

    def say(text):
        print(f"{time.monotonic() - start:7.1f}  {text}", file=sys.stderr, flush=True)

    end_on_signals()
    found = []
    with contextlib.ExitStack() as ends:
        directory = folder(ends, "chaos", lambda: found or chosen.keep, say)
        say(f"seed {chosen.seed}, {chosen.minutes} minutes, in {directory}")
        chaos = Chaos(chosen, directory, say, ends)
        chaos.prepare()
        if chosen.outage:
            figures = Outage(chaos, chosen.outage, chosen.seconds).run()
            found = outage_faults(figures)
        elif chosen.wave:
            figures = Wave(chaos, chosen.seconds).run()
            found = wave_faults(figures)
        else:
            figures = chaos.run()
            found = faults_of(figures, chosen.in_doubt == "assume_sent")
    order = [name for name in ORDER if name in figures]
    figures = {name: figures[name] for name in order + [each for each in figures if each not in order]}
    for each in found:
        say("FAULT: " + each)
    if found or chosen.keep:
        say(f"replay: Scripts/chaos {replay(chosen)} --seed {chosen.seed}")
    if chosen.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:30} {value}")
    sys.exit(1 if found else 0)


main()
