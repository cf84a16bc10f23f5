"""fleet: a whole campaign, from its creation to its last outcome, with everything on this machine."""
import json
import os
import signal
import subprocess

from harness import BIN, ROOT, own_cpu, peak_memory, run
from provider import Provider
from queue_bench import until


def bench(server, report, options, directory):
    count = options.size or 150_000
    cases = [(latency, workers) for latency in ("0ms", "50ms") for workers in (1, 2, 4)]
    for latency, workers in options.choose(cases, lambda each: f"{each[0]}x{each[1]}"):
        rounds = [campaign(server, directory, count, latency, workers) for _ in range(options.rounds)]
        say(report, "fleet", f"FCM, {latency} latency, {workers} workers", rounds)


def say(report, benchmark, case, rounds):
    for metric, unit in (("pushes", "1/s"), ("database cpu", "us/push"), ("worker cpu", "us/push"),
                         ("other roles cpu", "us/push"), ("simulator cpu", "us/push"), ("worker memory", "MiB"),
                         ("scheduler memory", "MiB")):
        report.figure(benchmark, case, metric, [each[metric] for each in rounds], unit)


def campaign(server, directory, count, latency, workers):
    url = server.fresh("fleet", count)
    provider = Provider(directory, latency)
    members = []
    try:
        environment = {**os.environ, "PUSHFLEET_DATABASE_URL": url, "PUSHFLEET_CA_FILE": provider.authority}
        pushfleet = os.path.join(BIN, "pushfleet")
        run([pushfleet, "credential", "add", "firebase", "--app", "ferry", "--transport", "fcm", "--file", provider.account,
             "--endpoint", provider.url], env=environment)
        for roles in ["scheduler", "janitor"] + ["worker"] * workers:
            members.append(subprocess.Popen([pushfleet, "run", "--roles", roles, "--log-level", "error"], env=environment,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        until(lambda: server.number("SELECT count(*) FROM pushfleet.worker", "fleet") >= workers)
        before = usage(server, provider, members)
        path = os.path.join(directory, "campaign.json")
        with open(os.path.join(ROOT, "Scripts/lib/demo-campaign.json"), encoding="utf-8") as file:
            content = json.load(file)
        content["idempotencyKey"] = "bench"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(content, file)
        start = server.number("SELECT extract(epoch FROM clock_timestamp())", "fleet")
        made = json.loads(run([pushfleet, "campaign", "create", path, "--json"], env=environment))["run"]
        done = f"SELECT coalesce(sum(settled - moved), 0) FROM pushfleet.batch WHERE run_id = {made}"
        until(lambda: server.number(done, "fleet") >= count, seconds=900)
        end = server.number("SELECT extract(epoch FROM max(at)) FROM pushfleet.delivery", "fleet")
        after = usage(server, provider, members)
        accepted = provider.counts()["accepted"]
        if accepted != count:
            raise RuntimeError(f"the simulator took {accepted} of {count}")
        figures = {f"{name} cpu": (after[name] - before[name]) * 1e6 / count for name in before}
        figures["pushes"] = count / (end - start)
        figures["worker memory"] = max(peak_memory(each.pid) for each in members[2:])
        figures["scheduler memory"] = peak_memory(members[0].pid)
        return figures
    finally:
        for each in members:
            each.send_signal(signal.SIGTERM)
        for each in members:
            each.wait()
        provider.end()


def usage(server, provider, members):
    return {"database": server.cpu(), "worker": sum(own_cpu(each.pid) for each in members[2:]),
            "other roles": sum(own_cpu(each.pid) for each in members[:2]), "simulator": own_cpu(provider.process.pid)}
