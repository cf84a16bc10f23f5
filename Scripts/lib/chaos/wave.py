"""A provider that calls every address dead for minutes, and the one command that takes it back."""
import json
import os
import time

from database import wait_until
from outage import create_campaign, settled
from verdict import faults_of, judge, logged

NOTIFY = """
SELECT count(pushfleet.notify('ferry', jsonb_build_object('externalId', 's-' || g), jsonb_build_object(
    'content', jsonb_build_object('en', jsonb_build_object('title', 'Now', 'body', 'x'), '_default', 'en'))))
FROM generate_series({first}, {first} + 19) g
"""


class Wave:
    """On a `Chaos` that was prepared and strikes nothing by itself. Single dead addresses are retired after 3 s here, not
    after ten minutes, so that retirement has every chance."""

    def __init__(self, chaos, seconds):
        self.chaos, self.seconds = chaos, seconds
        self.database, self.fleet, self.simulator = chaos.database, chaos.fleet, chaos.simulator
        os.environ["PUSHFLEET_TEST_PACE"] = "quick"

    def run(self):
        start = time.monotonic()
        self.simulator.call("/admin/fault", {"set": "none,unregistered=100%,latency=30ms"})
        self.chaos.watch.start()
        self.fleet.start()
        create_campaign(self.chaos, "wave")
        figures = {"wave_seconds": self.seconds, "most_retired": self.endure()}
        figures["run_paused"] = self.database.number("SELECT count(*) FROM pushfleet.run WHERE status = 2")
        figures["answers_against"] = self.database.number("SELECT sum(gone) FROM pushfleet.answer_minute")
        self.simulator.call("/admin/fault", {"set": "none,latency=30ms"})
        time.sleep(10)
        figures["retired"] = self.retired()
        figures.update(self.undo())
        for row in self.database.ask("SELECT id FROM pushfleet.run WHERE status = 2"):
            self.chaos.pushfleet("campaign", "resume", row[0])
        wait_until(lambda: settled(self.database), 180)
        self.chaos.watch.end()
        self.fleet.end()
        figures.update(judge(self.database, self.simulator))
        figures["accounting_violations"] = self.chaos.watch.violations
        figures["low_mark_defects"] = logged(self.chaos.directory, "batches lay below the low mark")
        figures["unexpected_exits"] = len(self.fleet.unexpected)
        figures["seconds"] = round(time.monotonic() - start, 1)
        return figures

    def endure(self):
        """Twenty notifications a second beside the campaign; the most addresses that were retired at any time."""
        end, first, most = time.monotonic() + self.seconds, 1, 0
        while time.monotonic() < end:
            self.database.ask(NOTIFY.format(first=first))
            first = first % (self.chaos.chosen.subscribers - 20) + 20
            most = max(most, self.retired())
            time.sleep(1)
        return most

    def retired(self):
        return self.database.number("SELECT count(*) FROM pushfleet.subscriber WHERE state = 3")

    def undo(self):
        """By the command that the list of waves names."""
        waves = [json.loads(line) for line in self.chaos.pushfleet("token", "waves", "--app", "ferry", "--json").splitlines()]
        for wave in waves:
            self.chaos.pushfleet("token", "restore", "--app", "ferry", "--credential", wave["credential"],
                                 "--from", wave["window"]["from"], "--to", wave["window"]["to"])
        return {"waves": len(waves), "held": sum(wave["held"] for wave in waves),
                "left_inactive": self.database.number("SELECT count(*) FROM pushfleet.subscriber WHERE state <> 1")}


def wave_faults(figures):
    found = faults_of(figures, assume_sent=False)
    for name in ("most_retired", "retired", "left_inactive"):
        if figures[name]:
            found.append(f"{name} is {figures[name]}, not 0")
    if figures["waves"] != 1 or figures["run_paused"] != 1 or figures["held"] == 0:
        found.append("no wave was held: the run proves nothing")
    return found
