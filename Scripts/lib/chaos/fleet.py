"""Scheduler, janitor and workers as processes, each reaching the database through a relay port of its own."""
import os
import signal
import subprocess
import time

from ending import unbroken

POINTS = {
    "worker": {
        "claim.before": 12, "claim.after": 8, "read.after": 8, "send.before": 40, "send.after": 40,
        "flush.before": 60, "flush.after": 60, "hand_back.before": 1, "hand_back.after": 1,
    },
    "scheduler": {"page.before": 3, "page.after": 3, "rebatch.before": 3, "rebatch.after": 3},
    "janitor": {"rescue.before": 1, "rescue.after": 1},
}


class Member:
    """A place in the fleet; processes come and go in it."""

    def __init__(self, fleet, role, place):
        self.fleet, self.role, self.place = fleet, role, place
        self.process = None
        self.point = None
        self.started = 0
        self.stopped = False
        # Why its end is expected: any of "kill", "term".
        self.ending = set()
        self.again_at = 0.0

    @property
    def name(self):
        return f"{self.role}-{self.place}"

    def start(self, point=None):
        fleet = self.fleet
        self.started += 1
        self.point, self.ending, self.stopped = point, set(), False
        database = fleet.database.through(fleet.ports[self.place], f"fleet_{self.role}")
        command = [fleet.binary, "run", "--roles", self.role, "--database", database, "--log-format", "json"]
        if self.role == "worker":
            command += ["--connections", "2", "--streams", "60", "--drain-limit", "4"]
        environment = {**os.environ, "PUSHFLEET_CA_FILE": fleet.authority}
        environment.setdefault("SWIFT_BACKTRACE", "enable=no")
        if point:
            environment["PUSHFLEET_DIE_AT"] = point
        with unbroken(), open(os.path.join(fleet.directory, f"{self.name}-{self.started}.log"), "wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)

    @property
    def is_up(self):
        return self.process is not None and self.process.poll() is None

    def send(self, which):
        if self.is_up:
            self.process.send_signal(which)

    def kill(self):
        self.ending.add("kill")
        self.send(signal.SIGKILL)

    def terminate(self):
        self.ending.add("term")
        self.send(signal.SIGTERM)

    def stall(self):
        self.stopped = True
        self.send(signal.SIGSTOP)

    def resume(self):
        self.stopped = False
        self.send(signal.SIGCONT)


class Fleet:
    def __init__(self, binary, directory, database, relay, workers, draw):
        self.binary, self.directory, self.database, self.draw = binary, directory, database, draw
        self.relay, self.ports = relay, relay.ports
        self.authority = None
        self.kills = self.restarts = self.deaths_at_points = 0
        self.unexpected = []
        self.points_hit = set()
        roles = ["scheduler", "scheduler", "janitor", "janitor"] + ["worker"] * workers
        self.members = [Member(self, role, place) for place, role in enumerate(roles)]
        # Each named point once before any comes again.
        self.wanted = {role: self.shuffled(points) for role, points in POINTS.items()}

    def shuffled(self, points):
        names = sorted(points)
        self.draw.shuffle(names)
        return names

    def start(self):
        for member in self.members:
            member.start()

    def next_point(self, role):
        if not self.wanted[role]:
            self.wanted[role] = self.shuffled(POINTS[role])
        name = self.wanted[role].pop()
        return f"{name}:{self.draw.randint(1, POINTS[role][name])}"

    def tend(self, deadly):
        """Notices who ended and starts them again, some of them with a point to die at."""
        now = time.monotonic()
        for member in self.members:
            if member.process is None or member.is_up:
                continue
            if member.again_at == 0:
                self.note_end(member)
                member.again_at = now + self.draw.uniform(0, 1.5)
            if now >= member.again_at:
                member.again_at = 0.0
                self.restarts += 1
                member.start(self.next_point(member.role) if deadly and self.draw.random() < 0.6 else None)

    def note_end(self, member):
        status = member.process.returncode
        if status == -signal.SIGKILL and ("kill" in member.ending or member.point):
            self.kills += 1
            if "kill" not in member.ending:
                self.deaths_at_points += 1
                self.points_hit.add(member.point.split(":")[0])
        # By the signal itself: while it still waits for the database.
        elif not (status in (0, -signal.SIGTERM) and "term" in member.ending):
            self.unexpected.append(f"{member.name}: {status}, {sorted(member.ending)}, log {member.started}")

    def end(self, harmless=True):
        for member in self.members:
            member.resume()
            member.terminate()
        end = time.monotonic() + 20
        for member in self.members:
            try:
                member.process.wait(max(0.1, end - time.monotonic()))
                if harmless and member.again_at == 0:
                    self.note_end(member)
            except subprocess.TimeoutExpired:
                self.unexpected.append(f"{member.name}: does not stop")
                member.kill()
                member.process.wait()


class Relay:
    def __init__(self, target, count, ends):
        """ends: an ExitStack; it ends when that unwinds."""
        here = os.path.dirname(os.path.abspath(__file__))
        with unbroken():
            self.process = subprocess.Popen(
                ["python3", os.path.join(here, "relay.py"), target, str(count)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True)
            ends.callback(self.end)
        self.ports = [int(self.process.stdout.readline()) for _ in range(count)]

    def tell(self, what, place):
        self.process.stdin.write(f"{what} {place}\n")
        self.process.stdin.flush()

    def end(self):
        self.process.terminate()
        self.process.wait()
