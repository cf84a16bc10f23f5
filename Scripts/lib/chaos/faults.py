"""What goes wrong, drawn from a seed."""
import collections
import subprocess
import threading
import time

from simulator import WEATHER

# By weight.
KINDS = {
    "kill": 5, "stop": 3, "stop twice": 1, "stall": 1, "long stall": 1, "database immediate": 1.2, "database fast": 0.8,
    "sever": 2, "silence": 1.2, "sever provider": 1, "silence provider": 0.5, "weather": 4, "pause": 1, "cancel": 0.5,
}


class Faults:
    def __init__(self, draw, database, fleet, simulator, provider_relay, say):
        self.draw, self.database, self.fleet, self.simulator = draw, database, fleet, simulator
        self.provider_relay, self.say = provider_relay, say
        self.counts = collections.Counter()
        self.later = []
        self.busy = None
        self.commands = []

    def strike(self):
        kind = self.draw.choices(list(KINDS), list(KINDS.values()))[0]
        member = self.draw.choice(self.fleet.members)
        worker = self.draw.choice([each for each in self.fleet.members if each.role == "worker"])
        downtime = self.draw.choice([0, 0.5, 2, 4])
        self.counts[kind] += 1
        self.say(f"{kind} {worker.name if 'stall' in kind else member.name if kind in ('kill', 'stop') else ''}")
        if kind == "kill":
            member.kill()
        elif kind in ("stop", "stop twice"):
            member.terminate()
            if kind == "stop twice":
                self.after(0.3, member.terminate)
        elif kind in ("stall", "long stall"):
            # Past lease and sightings, so that a living worker's batches are rescued.
            seconds = self.draw.uniform(1, 4) if kind == "stall" else self.draw.uniform(22, 26)
            if not worker.stopped and worker.is_up:
                worker.stall()
                self.after(seconds, worker.resume)
        elif kind.startswith("database"):
            self.restart_database(kind.split()[1], downtime)
        elif kind in ("sever", "silence"):
            self.fleet.relay.tell(kind, member.place)
        elif kind.endswith("provider"):
            self.provider_relay.tell(kind.split()[0], 0)
        elif kind == "weather":
            self.simulator.weather(self.draw.choice(WEATHER))
        else:
            self.control(kind)

    def restart_database(self, mode, downtime):
        if self.busy is not None and self.busy.is_alive():
            return
        self.busy = threading.Thread(target=self.database.restart, args=(mode, downtime, time.sleep))
        self.busy.start()

    def control(self, kind):
        """By the commands that operators use. They may fail while the database is away."""
        rows = self.database.try_ask(
            "SELECT id FROM pushfleet.run WHERE status = 1 AND closed_at IS NULL AND NOT standing ORDER BY id LIMIT 8")
        if not rows:
            return
        run = self.draw.choice(rows)[0]
        self.command(kind, run)
        if kind == "pause":
            self.after(self.draw.uniform(1, 6), lambda: self.command("resume", run))

    def command(self, kind, run):
        self.commands.append(subprocess.Popen(
            [self.fleet.binary, "campaign", kind, run], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def resume_all(self):
        for command in self.commands:
            command.wait()
        self.commands = []
        for row in self.database.ask("SELECT id FROM pushfleet.run WHERE status = 2"):
            self.command("resume", row[0])
        for command in self.commands:
            command.wait()

    def after(self, seconds, action):
        self.later.append((time.monotonic() + seconds, action))

    def tend(self):
        now = time.monotonic()
        due = [action for at, action in self.later if at <= now]
        self.later = [(at, action) for at, action in self.later if at > now]
        for action in due:
            action()

    def end(self):
        """What is still under way, when all is ended."""
        if self.busy is not None:
            self.busy.join()
        for command in self.commands:
            command.kill()
            command.wait()

    def calm(self):
        """Ends everything that was begun."""
        if self.busy is not None:
            self.busy.join()
        for _, action in self.later:
            action()
        self.later = []
        self.simulator.weather("none")
        self.resume_all()
