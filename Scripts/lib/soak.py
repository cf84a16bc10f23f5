"""See Scripts/soak."""
import argparse
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time

from ending import end_on_signals, folder, unbroken
from harness import BIN, ROOT, Server, own_cpu, run
from provider import Provider

# By PostgreSQL's own estimate, all our tables together. A batch of 500 is claimed once and flushed some five times.
DEAD_PER_THOUSAND_JOBS = 40
# Between a warmed-up process and its end.
GROWTH_MIB = 6


def options():
    parser = argparse.ArgumentParser(prog="Scripts/soak", description="Proves that nothing decays.")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--json", action="store_true", help="end with one JSON line")
    parser.add_argument("--subscribers", type=int, default=100_000, help="audience of each campaign (default 100000)")
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args()


class Soak:
    READ_SECONDS = 120

    def __init__(self, chosen, directory, ends):
        """ends: an ExitStack; what is started here ends when it unwinds."""
        self.chosen, self.directory = chosen, directory
        self.server = Server(os.path.join(directory, "postgres"), ends)
        self.url = self.server.fresh("soak", chosen.subscribers)
        with unbroken():
            self.provider = Provider(directory)
            ends.callback(self.provider.end)
        self.environment = {**os.environ, "PUSHFLEET_DATABASE_URL": self.url, "PUSHFLEET_CA_FILE": self.provider.authority}
        self.members = {}
        self.readers = []
        self.campaigns = 0
        ends.callback(self.end)

    def say(self, text):
        print(text, file=sys.stderr, flush=True)

    def pushfleet(self, *arguments):
        return run([os.path.join(BIN, "pushfleet"), *arguments], env=self.environment)

    def start(self):
        self.pushfleet("credential", "add", "firebase", "--app", "ferry", "--transport", "fcm", "--file",
                       self.provider.account, "--endpoint", self.provider.url)
        for name in ["scheduler", "janitor"] + [f"worker {n + 1}" for n in range(self.chosen.workers)]:
            with unbroken(), open(os.path.join(self.directory, name + ".log"), "wb") as log:
                self.members[name] = subprocess.Popen(
                    [os.path.join(BIN, "pushfleet"), "run", "--roles", name.split()[0], "--log-level", "warning"],
                    env=self.environment, stdout=log, stderr=log)

    def feed(self):
        """So much waits at any time that no worker is ever idle."""
        # Runs to come or with batches that nobody holds: one that is done, and not closed yet, keeps no worker busy.
        waiting = self.server.number(
            "SELECT count(*) FROM pushfleet.run WHERE closed_at IS NULL AND NOT standing AND ("
            "NOT EXISTS (SELECT FROM pushfleet.batch WHERE batch.run_id = run.id) "
            "OR EXISTS (SELECT FROM pushfleet.batch WHERE batch.run_id = run.id AND batch.state = 0))", "soak")
        for _ in range(int(max(0, 4 - waiting))):
            with open(os.path.join(ROOT, "Scripts/lib/demo-campaign.json"), encoding="utf-8") as file:
                content = json.load(file)
            self.campaigns += 1
            content["idempotencyKey"] = f"soak-{self.campaigns}"
            path = os.path.join(self.directory, "campaign.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(content, file)
            self.pushfleet("campaign", "create", path, "--json")

    def hold(self, seconds):
        """A transaction that reads and then keeps its snapshot."""
        reader = subprocess.Popen(["psql", "-XAtq", self.url], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        reader.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ;\n"
                           "SELECT count(*), sum(delivered) FROM pushfleet.batch;\n"
                           f"SELECT pg_sleep({seconds});\n")
        reader.stdin.close()
        self.readers.append(reader)

    def dead(self):
        rows = self.server.ask("SELECT relname, n_dead_tup FROM pg_stat_user_tables WHERE schemaname = 'pushfleet' "
                               "AND n_dead_tup > 0 ORDER BY n_dead_tup DESC", "soak")
        return {name: int(count) for name, count in rows}

    def memory(self):
        found = {}
        for name, process in self.members.items():
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
                found[name] = next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))
        return found

    def cpu(self):
        """Seconds by component so far."""
        found = {"database": self.server.cpu(), "simulator": own_cpu(self.provider.process.pid)}
        for name, process in self.members.items():
            found[name.split()[0]] = found.get(name.split()[0], 0) + own_cpu(process.pid)
        return found

    def run(self):
        self.start()
        total = self.chosen.minutes * 60
        warm = min(30, total / 6)
        start = time.monotonic()
        samples, memory, first_dead = [], None, None
        reader_at = 0.0
        self.hold(total + 60)
        while (elapsed := time.monotonic() - start) < total:
            self.feed()
            samples.append((time.monotonic() - start, self.provider.counts()["accepted"], self.cpu()))
            if memory is None and elapsed >= warm:
                memory, first_dead = self.memory(), sum(self.dead().values())
            if elapsed >= reader_at:
                # Two overlap at any time.
                self.hold(self.READ_SECONDS)
                reader_at = elapsed + self.READ_SECONDS / 2
                self.say(f"{elapsed:6.0f} s  {samples[-1][1]:12,} sent  dead rows {self.dead()}")
            time.sleep(1)
        return self.figures(samples, warm, memory, first_dead)

    def figures(self, samples, warm, memory, first_dead):
        samples = [each for each in samples if each[0] >= warm]
        rates = [(sent - before) / (at - earlier) for (earlier, before, _), (at, sent, _) in zip(samples, samples[1:])]
        part = max(1, len(rates) // 5)
        begin, end = statistics.median(rates[:part]), statistics.median(rates[-part:])
        after, dead = self.memory(), self.dead()
        sent = samples[-1][1]
        grown = {name: round(after[name] - memory[name], 1) for name in memory}
        figures = {
            "minutes": self.chosen.minutes, "campaigns": self.campaigns, "sent": sent,
            "throughput_start": round(begin), "throughput_end": round(end), "throughput_ratio": round(end / begin, 3),
            # What the work costs, and what the machine gave for it: the simulator does the same for every push.
            "cpu_us_per_push_start": self.cost(samples[0], samples[part]),
            "cpu_us_per_push_end": self.cost(samples[-part - 1], samples[-1]),
            "cores_busy_start": self.busy(samples[0], samples[part]),
            "cores_busy_end": self.busy(samples[-part - 1], samples[-1]),
            "dead_rows": sum(dead.values()), "dead_rows_by_table": dead,
            "dead_rows_per_thousand_jobs": round(sum(dead.values()) * 1000 / max(1, sent), 1),
            "dead_rows_after_warm_up": first_dead,
            "memory_mib": {name: round(value, 1) for name, value in after.items()}, "memory_growth_mib": grown,
            "accounting_violations": int(self.server.number("SELECT count(*) FROM pushfleet.accounting_violation", "soak")),
            "processes_ended": sum(each.poll() is not None for each in self.members.values()),
        }
        faults = []
        if figures["throughput_ratio"] < 0.9:
            faults.append("throughput fell by more than 10 %")
        if figures["dead_rows_per_thousand_jobs"] > DEAD_PER_THOUSAND_JOBS:
            faults.append("dead rows grow with the jobs")
        if max(grown.values()) > GROWTH_MIB:
            faults.append("a process grows")
        if figures["accounting_violations"] or figures["processes_ended"]:
            faults.append("the accounting is violated, or a process ended")
        figures["faults"] = faults
        return figures

    @staticmethod
    def cost(one, other):
        pushes = max(1, other[1] - one[1])
        return {name: round((other[2][name] - one[2][name]) * 1e6 / pushes, 1) for name in one[2]}

    @staticmethod
    def busy(one, other):
        return round((sum(other[2].values()) - sum(one[2].values())) / (other[0] - one[0]), 2)

    def end(self):
        for each in self.members.values():
            each.send_signal(signal.SIGTERM)
        for each in self.members.values():
            each.wait()
        for each in self.readers:
            each.kill()
            each.wait()


def main():
    chosen = options()
    end_on_signals()
    with contextlib.ExitStack() as ends:
        directory = folder(ends, "soak", lambda: False, lambda text: print(text, file=sys.stderr))
        figures = Soak(chosen, directory, ends).run()
    if chosen.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:30} {value}")
    sys.exit(1 if figures["faults"] else 0)


main()
