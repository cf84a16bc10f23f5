"""peers: what other libraries do on the same PostgreSQL and simulator: queues with empty jobs, senders, and both together
for the whole job, as a user would build it."""
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

import audience
import send
from fleet import campaign
from harness import ROOT, run
from provider import Provider
from queue_bench import drain

PEER = os.path.join(ROOT, "Scripts", "bench", "peer")
# Outside of what is committed, and kept: `rm -r .build/bench` throws it away.
PLACE = os.path.join(ROOT, ".build", "bench", "env")
REQUIREMENTS = os.path.join(PEER, "requirements.txt")
# Jobs of each: what it does in some seconds. A shorter queue is no harm to any of them.
QUEUES = {"pgqueuer": 100_000, "chancy": 20_000, "oban": 20_000, "procrastinate": 3_000}
SENDERS = {"firebase-admin": "fcm", "async-firebase": "fcm", "aioapns": "apns", "pywebpush": "webpush"}
# The fastest sender of each transport.
WHOLE = {"fcm": "firebase-admin", "apns": "aioapns"}
PROCESSES = 2


def bench(server, report, options, directory):
    python = environment(report)
    size = options.size or 1_000_000
    queues = options.choose([f"queue-{name}" for name in QUEUES], str)
    if queues:
        compare_queues(server, report, options, python, [each.removeprefix("queue-") for each in queues], size)
    senders = options.choose([f"send-{name}" for name in SENDERS], str)
    if senders:
        compare_senders(report, options, python, directory, [each.removeprefix("send-") for each in senders], size)
    for kind in options.choose(list(WHOLE), lambda each: f"whole-{each}"):
        compare_whole(server, report, options, python, directory, kind, size)


# MARK: The environment


def environment(report):
    """The Python of a virtual environment with the peers, made once; by the newest Python that there is: some want it."""
    python = os.path.join(PLACE, "bin", "python")
    stamp = os.path.join(PLACE, "requirements.txt")
    wanted = contents(REQUIREMENTS)
    if contents(stamp) != wanted:
        report.note("peers: installing them from PyPI into .build/bench/env")
        run([newest_python(), "-m", "venv", "--clear", PLACE])
        run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS])
        # Last, so that what broke off is begun anew.
        shutil.copy(REQUIREMENTS, stamp)
    report.note("peers: " + run([python, "--version"]).strip() + "; "
                + ", ".join(line for line in wanted.splitlines() if line and line[0] != "#"))
    return python


def contents(path):
    """None if there is no such file."""
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def newest_python():
    found = {}
    for path in glob.glob("/usr/bin/python3.*") + glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")):
        version = re.search(r"3\.(\d+)", path)
        if version and path.endswith(("python3", version.group(0))):
            found[int(version.group(1))] = path
    return found[max(found)] if found else "python3"


def peer(python, script, *arguments):
    return [python, os.path.join(PEER, script), *arguments]


def workers(commands):
    """Runs them beside each other to their end; the last line that each printed, as JSON."""
    errors = tempfile.TemporaryFile("w+", encoding="utf-8")
    running = [subprocess.Popen(each, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True)
               for each in commands]
    figures = []
    try:
        for each in running:
            # The line itself, not the end of the pipe: what such a process leaves behind may hold that open.
            line = each.stdout.readline()
            if not line:
                errors.seek(0)
                raise RuntimeError((errors.read().strip().splitlines() or ["it ended without a word"])[-1])
            figures.append(json.loads(line))
    finally:
        for each in running:
            # With the processes that it started, which outlive it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(each.pid, signal.SIGKILL)
            each.wait()
        errors.close()
    return figures


def could_not(report, name, reason):
    """A peer that does not run is named with why, and is no figure."""
    report.note(f"peers: {name} did not run: {str(reason)[:300]}")


# MARK: Queues


def compare_queues(server, report, options, python, names, size):
    theirs, ours = {name: [] for name in names}, []
    for _ in range(options.rounds):
        ours.append(drain(server, min(200_000, size), 500, PROCESSES))
        for name in list(theirs):
            try:
                theirs[name].append(queue(server, python, name, min(QUEUES[name], size)))
            except RuntimeError as reason:
                could_not(report, name, reason)
                del theirs[name]
    rates = [each["rate"] for each in ours]
    report.figure("peers", "Pushfleet, batch 500, 2 workers", "jobs", rates, "1/s")
    report.figure("peers", "Pushfleet, batch 500, 2 workers", "database cpu", [each["server"] for each in ours], "s/million")
    report.figure("peers", "Pushfleet, batch 500, 2 workers", "worker cpu", [each["client"] for each in ours], "s/million")
    for name, rounds in theirs.items():
        case = f"{name}, {PROCESSES} processes"
        report.figure("peers", case, "jobs", [each["rate"] for each in rounds], "1/s", "of it, Pushfleet does",
                      [one / other["rate"] for one, other in zip(rates, rounds)])
        report.figure("peers", case, "database cpu", [each["server"] for each in rounds], "s/million")
        report.figure("peers", case, "worker cpu", [each["client"] for each in rounds], "s/million")


def queue(server, python, name, count):
    fresh(server)
    run(peer(python, "queues.py", name, "install", server.url("peer")))
    run(peer(python, "queues.py", name, "enqueue", server.url("peer"), str(count)))
    server.ask("VACUUM ANALYZE", "peer")
    server.ask("CHECKPOINT")
    cpu = server.cpu()
    figures = workers([peer(python, "queues.py", name, "work", server.url("peer"))] * PROCESSES)
    return summed(figures, count, (server.cpu() - cpu) * 1e6 / count)


def summed(figures, count, server_cpu):
    done = sum(each["jobs"] for each in figures)
    if done < count:
        raise RuntimeError(f"{done} of {count} jobs were done")
    busy = [each for each in figures if each["jobs"]]
    span = max(each["last"] for each in busy) - min(each["first"] for each in busy)
    return {"rate": count / span, "server": server_cpu, "client": sum(each["cpu"] for each in figures) * 1e6 / count}


def fresh(server):
    server.ask("DROP DATABASE IF EXISTS peer WITH (FORCE)")
    server.ask("CREATE DATABASE peer")


# MARK: Senders


def sender(python, provider, name, addresses, count, window=200):
    done = run(peer(python, "senders.py", name, "--state", provider.directory, "--url", provider.url, "--addresses",
                    addresses, "--count", str(count), "--window", str(window)))
    figures = json.loads(done.splitlines()[-1])
    if figures["ok"] != count:
        raise RuntimeError(f"{figures['ok']} of {count} were accepted")
    return figures


def compare_senders(report, options, python, directory, names, size):
    provider = Provider(directory)
    try:
        for name in names:
            kind, count = SENDERS[name], min(2000 if name == "pywebpush" else 5000, size)
            many = min(count * 20, size)
            addresses = os.path.join(directory, f"{kind}.tsv")
            audience.write(addresses, kind, min(count, 2000), provider.url)
            ours, theirs = [], []
            try:
                for _ in range(options.rounds):
                    theirs.append(sender(python, provider, name, addresses, count))
                    ours.append(send.send(provider, directory, kind, many))
            except RuntimeError as reason:
                could_not(report, name, reason)
                continue
            case = f"{name}, 1 process"
            report.figure("peers", case, "client cpu", [each["cpu"] * 1e6 / count for each in theirs], "us/message",
                          "our transport", [one["cpu"] / count / (other.cpu / many) for one, other in zip(theirs, ours)])
            report.figure("peers", case, "messages", [count / each["wall"] for each in theirs], "1/s",
                          "of it, ours sends", [many / one.wall / (count / other["wall"]) for one, other in zip(ours, theirs)])
    finally:
        provider.end()


# MARK: The whole job


def compare_whole(server, report, options, python, directory, kind, size):
    """From the audience in a table to the last push accepted: pgqueuer, the fastest of the queues, and a sender."""
    name, count, many = WHOLE[kind], min(10_000, size), min(150_000, size)
    ours, theirs = [], []
    try:
        for _ in range(options.rounds):
            theirs.append(whole(server, python, directory, kind, name, count))
            ours.append(campaign(server, directory, many, "0ms", 2, kind))
    except RuntimeError as reason:
        return could_not(report, f"pgqueuer with {name}", reason)
    case = f"{audience.NAMES[kind]}: pgqueuer + {name}, 2 processes"
    report.figure("peers", case, "pushes", [each["rate"] for each in theirs], "1/s", "of it, our fleet does",
                  [one["pushes"] / other["rate"] for one, other in zip(ours, theirs)])
    for metric, of in (("database cpu", "server"), ("worker cpu", "client")):
        report.figure("peers", case, metric, [each[of] for each in theirs], "us/push")
    report.figure("peers", f"{audience.NAMES[kind]}: our fleet, 2 workers", "pushes", [each["pushes"] for each in ours], "1/s")


def whole(server, python, directory, kind, name, count):
    """Jobs are put in while workers send, both from the audience's table; the clock runs from the first job put in."""
    server.fresh("peer", count, kind)
    url = server.url("peer")
    run(peer(python, "queues.py", "pgqueuer", "install", url))
    provider = Provider(directory)
    try:
        cpu = server.cpu()
        putting = subprocess.Popen(peer(python, "combination.py", name, "enqueue", url, str(count)), stdout=subprocess.PIPE,
                                   text=True)
        figures = workers([peer(python, "combination.py", name, "work", url, "--state", provider.directory, "--simulator",
                                provider.url)] * PROCESSES)
        began = json.loads(putting.stdout.readline())
        putting.wait()
        if provider.counts()["accepted"] < count:
            raise RuntimeError("the simulator took fewer pushes than there are jobs")
    finally:
        provider.end()
    for each in figures:
        if each["jobs"]:
            each["first"] = min(each["first"], began["first"])
    figures[0]["cpu"] += began["cpu"]
    return summed(figures, count, (server.cpu() - cpu) * 1e6 / count)
