"""fleet: a whole campaign, from its creation to its last outcome, with everything on this machine."""
import json
import os
import signal
import subprocess

import audience
from harness import BIN, ROOT, own_cpu, peak_memory, run, until
from provider import Provider


def bench(server, report, options, directory):
    count = options.size or 150_000
    cases = [("fcm", latency, workers) for latency in ("0ms", "50ms") for workers in (1, 2, 4)]
    for kind in ("apns", "webpush", "mixed"):
        cases += [(kind, latency, workers) for latency in ("0ms", "50ms") for workers in ((1, 2, 4) if options.full else (2,))]
    for kind, latency, workers in options.choose(cases, lambda each: f"{each[0]}-{each[1]}x{each[2]}"):
        rounds = [campaign(server, directory, count, latency, workers, kind) for _ in range(options.rounds)]
        say(report, "fleet", f"{audience.NAMES[kind]}, {latency} latency, {workers} workers", rounds)


def say(report, benchmark, case, rounds):
    for metric, unit in (("pushes", "1/s"), ("database cpu", "us/push"), ("worker cpu", "us/push"),
                         ("other roles cpu", "us/push"), ("simulator cpu", "us/push"), ("all cpu", "us/push"),
                         ("worker memory", "MiB"), ("scheduler memory", "MiB"), ("janitor memory", "MiB"),
                         ("simulator memory", "MiB")):
        report.figure(benchmark, case, metric, [each[metric] for each in rounds], unit)


def campaign(server, directory, count, latency, workers, kind="fcm", pooled=False):
    url = server.fresh("fleet", count, kind)
    if pooled:
        url = server.pooler() + "fleet"
    with Fleet(server, directory, url, workers, kind, latency, pooled=pooled) as fleet:
        before = fleet.usage()
        start = fleet.session.number("SELECT extract(epoch FROM clock_timestamp())")
        made = fleet.create()
        until(lambda: fleet.settled(made) >= count, seconds=900)
        after = fleet.usage()
        end = fleet.session.number("SELECT extract(epoch FROM max(at)) FROM pushfleet.delivery")
        accepted = fleet.provider.counts()["accepted"]
        if accepted != count:
            raise RuntimeError(f"the simulator took {accepted} of {count}")
        figures = {f"{name} cpu": (after[name] - before[name]) * 1e6 / count for name in before}
        figures["all cpu"] = sum(figures.values())
        figures["pushes"] = count / (end - start)
        scheduler, janitor, *senders = fleet.members
        figures["worker memory"] = max(peak_memory(each.pid) for each in senders)
        figures["scheduler memory"] = peak_memory(scheduler.pid)
        figures["janitor memory"] = peak_memory(janitor.pid)
        figures["simulator memory"] = peak_memory(fleet.provider.process.pid)
        return figures


class Fleet:
    """A scheduler, a janitor, workers and the simulator, on a database that stands already."""

    def __init__(self, server, directory, url, workers, kind="fcm", latency="0ms", journal=False, pooled=False):
        self.server, self.directory = server, directory
        self.database = url.rsplit("/", 1)[1]
        self.provider = Provider(directory, latency, journal=journal)
        self.environment = {**os.environ, **audience.EGRESS, "PUSHFLEET_DATABASE_URL": url,
                            "PUSHFLEET_CA_FILE": self.provider.authority}
        if pooled:
            self.environment["PUSHFLEET_PREPARED_STATEMENTS"] = "off"
        self.members, self.session = [], None
        try:
            # Beside the pooler, whose connections are the fleet's.
            self.session = server.session(self.database)
            self.credentials(kind)
            for roles in ["scheduler", "janitor"] + ["worker"] * workers:
                self.members.append(subprocess.Popen(
                    [os.path.join(BIN, "pushfleet"), "run", "--roles", roles, "--log-level", "error"], env=self.environment,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            until(lambda: self.session.number("SELECT count(*) FROM pushfleet.worker") >= workers)
        except BaseException:
            self.end()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def pushfleet(self, *arguments):
        return run([os.path.join(BIN, "pushfleet"), *arguments], env=self.environment)

    def credentials(self, kind):
        add = ("credential", "add", "--app", "ferry", "--transport")
        if kind in ("fcm", "mixed"):
            self.pushfleet(*add, "fcm", "firebase", "--file", self.provider.account, "--endpoint", self.provider.url)
        if kind in ("apns", "mixed"):
            self.pushfleet(*add, "apns", "apple", "--file", self.provider.apple)
        if kind in ("webpush", "mixed"):
            self.pushfleet(*add, "webpush", "web", "--file", self.provider.vapid_key(), "--contact",
                           "mailto:push@ferry.example")

    def create(self, rate=None):
        """The demo's campaign to everybody; its run."""
        path = os.path.join(self.directory, "campaign.json")
        with open(os.path.join(ROOT, "Scripts/lib/demo-campaign.json"), encoding="utf-8") as file:
            content = json.load(file)
        content["idempotencyKey"] = "bench"
        if rate:
            content["throttle"] = {"perSecond": rate}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(content, file)
        return json.loads(self.pushfleet("campaign", "create", path, "--json"))["run"]

    def settled(self, which):
        return self.session.number(
            f"SELECT coalesce(sum(settled - moved), 0) FROM pushfleet.batch WHERE run_id = {which}")

    def usage(self):
        return {"database": self.server.cpu(), "worker": sum(own_cpu(each.pid) for each in self.members[2:]),
                "other roles": sum(own_cpu(each.pid) for each in self.members[:2]),
                "simulator": own_cpu(self.provider.process.pid)}

    def end(self):
        for each in self.members:
            each.send_signal(signal.SIGTERM)
        for each in self.members:
            each.wait()
        if self.session:
            self.session.close()
        self.provider.end()
