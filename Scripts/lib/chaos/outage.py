"""One outage of the database under a fleet at work, and how soon the work goes on after it."""
import json
import os
import time

from database import wait_until
from verdict import faults_of, judge, logged

# Within this after the database's return, claims resume.
LIMIT = 5.0


def create_campaign(chaos, name):
    """One to everybody that lives long enough."""
    with open("Scripts/lib/demo-campaign.json", encoding="utf-8") as file:
        campaign = json.load(file)
    campaign["delivery"]["ttlSeconds"] = 3600
    campaign["idempotencyKey"] = campaign["name"] = name
    path = os.path.join(chaos.directory, "campaign.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(campaign, file)
    chaos.pushfleet("campaign", "create", path, "--json")


def settled(database):
    return database.try_ask("SELECT count(*) FROM pushfleet.run WHERE closed_at IS NULL AND NOT standing") == [["0"]]


class Outage:
    """On a `Chaos` that was prepared and strikes nothing by itself."""

    def __init__(self, chaos, kind, seconds):
        self.chaos, self.kind, self.seconds = chaos, kind, seconds
        self.database, self.fleet, self.simulator = chaos.database, chaos.fleet, chaos.simulator

    def run(self):
        start = time.monotonic()
        # Some 900 sends a second, so that the campaign outlasts the outage.
        self.simulator.call("/admin/fault", {"set": "none,latency=400ms"})
        self.chaos.watch.start()
        self.fleet.start()
        create_campaign(self.chaos, "outage")
        if not wait_until(lambda: self.sends() >= 3000, 60):
            raise SystemExit("chaos: the campaign does not start")
        figures = {"outage": self.kind, "outage_seconds": self.seconds}
        figures.update(self.cut())
        wait_until(lambda: settled(self.database), 180)
        exits = sum(not member.is_up for member in self.fleet.members)
        self.chaos.watch.end()
        self.fleet.end()
        figures["rescued_batches"] = self.database.number("SELECT count(*) FROM pushfleet.batch WHERE lapses > 0")
        figures["exits"] = exits + len(self.fleet.unexpected)
        figures.update(self.verdict())
        figures["seconds"] = round(time.monotonic() - start, 1)
        return figures

    def sends(self):
        return self.simulator.counts()["wire_sends"]

    def claims(self):
        rows = self.database.try_ask("SELECT coalesce(sum(epoch), 0) FROM pushfleet.batch")
        return int(rows[0][0]) if rows else 0

    def cut(self):
        """The outage itself."""
        self.chaos.say(f"outage: {self.kind}")
        self.begin()
        # What was fresh is used up within a second; whatever comes later was begun without the database.
        time.sleep(1.5)
        before = self.sends()
        time.sleep(max(0.0, self.seconds - 1.5))
        during = self.sends() - before
        self.end()
        returned, sends = time.monotonic(), self.sends()
        claims = self.claims()
        figures = {"sends_without_database": during}
        figures["sends_resumed_seconds"] = self.waited(returned, lambda: self.sends() > sends)
        figures["claims_resumed_seconds"] = self.waited(returned, lambda: self.claims() > claims)
        self.chaos.say(f"over: {figures}")
        return figures

    @staticmethod
    def waited(since, condition):
        wait_until(condition, 60, 0.02)
        return round(time.monotonic() - since, 2)

    def begin(self):
        if self.kind == "half-open":
            for place in range(len(self.fleet.members)):
                self.fleet.relay.tell("mute", place)
        else:
            self.database.stop("fast" if self.kind == "stopped" else "immediate")

    def end(self):
        if self.kind == "half-open":
            for place in range(len(self.fleet.members)):
                self.fleet.relay.tell("unmute", place)
        else:
            self.database.start()

    def verdict(self):
        figures = judge(self.database, self.simulator)
        figures["accounting_violations"] = self.chaos.watch.violations
        figures["low_mark_defects"] = logged(self.chaos.directory, "batches lay below the low mark")
        figures["unexpected_exits"] = len(self.fleet.unexpected)
        for each in self.fleet.unexpected:
            self.chaos.say(f"unexpected end: {each}")
        return figures


def outage_faults(figures):
    found = faults_of(figures, assume_sent=False)
    for name in ("exits", "rescued_batches", "sends_without_database", "repeats"):
        if figures[name]:
            found.append(f"{name} is {figures[name]}, not 0")
    for name in ("sends_resumed_seconds", "claims_resumed_seconds"):
        if figures[name] > LIMIT:
            found.append(f"{name} is {figures[name]}, beyond {LIMIT:g}")
    return found
