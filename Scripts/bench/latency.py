"""latency: from the commit of a transaction that called notify() until the provider has the request, idle and under a
campaign at 60 % of what the fleet can do, directly and through PgBouncer; and how many calls a second are collected."""
import os
import statistics

from fleet import Fleet, campaign
from harness import BIN, run, until

WORKERS = 2
WARM = 50
# Milliseconds between two calls, on average.
INTERVAL = 20
SHARE = 0.6


def bench(server, report, options, directory):
    calls = max(options.size or 500, 100)
    cases = [(load, way) for load in ("idle", "load", "calls") for way in ("direct", "pooled")]
    chosen = options.choose(cases, lambda each: "-".join(each))
    for load, way in chosen:
        rate, audience_size = None, 20_000
        if load == "load":
            most = statistics.median(
                campaign(server, directory, 150_000, "0ms", WORKERS, pooled=way == "pooled")["pushes"]
                for _ in range(options.rounds))
            rate = int(most * SHARE)
            # So many that it lasts longer than the calls do.
            audience_size = int(rate * ((calls + WARM) * INTERVAL / 1000 * 1.3 + 5)) // 50_000 * 50_000 + 50_000
            report.note(f"the fleet's maximum, {way}, is {most:,.0f} pushes/s; the campaign beside is throttled to {rate:,}")
        case = {"idle": "idle", "load": "beside a campaign at 60 %", "calls": "as many calls as go"}[load] + f", {way}"
        rounds = []
        for _ in range(options.rounds):
            fleet = start(server, directory, audience_size, way)
            with fleet:
                if load == "calls":
                    rounds.append(throughput(server, fleet, way, calls * 20))
                else:
                    rounds.append(measure(server, fleet, way, calls, rate, audience_size))
        unit = "1/s" if load == "calls" else "ms"
        for metric in rounds[0]:
            report.figure("latency", case, metric, [each[metric] for each in rounds],
                          "us/call" if metric.endswith("cpu") else unit)


def start(server, directory, subscribers, way):
    url = server.fresh("latency", subscribers)
    if way == "pooled":
        url = server.pooler() + "latency"
    return Fleet(server, directory, url, WORKERS, journal=True, pooled=way == "pooled")


def notify(fleet, way, count, *more):
    """Calls, as (identity on the wire, begun, committed), in order, the warm-up left out."""
    command = [os.path.join(BIN, "Bench"), "notify", "--database", fleet.environment["PUSHFLEET_DATABASE_URL"],
               "--subscribers", "20000", "--count", str(count + WARM), *more]
    lines = run(command + (["--unprepared"] if way == "pooled" else [])).split("\n")
    calls = sorted((tuple(int(part) for part in line.split("\t")) for line in lines if line), key=lambda each: each[1])
    # Its first runs compile and prepare; that of two days if midnight passes meanwhile.
    standing = [row[0] for row in fleet.server.ask("SELECT id FROM pushfleet.run WHERE standing", fleet.database)]
    return calls[WARM:], standing


def arrived(fleet, calls, standing):
    """When each reached the simulator; waits for all."""
    identities = [[f"{each}-{number}" for each in standing] for number, _, _ in calls]
    found = []

    def are_there():
        arrivals = fleet.provider.arrivals()
        found[:] = [next((arrivals[each] for each in some if each in arrivals), None) for some in identities]
        return None not in found
    until(are_there, seconds=60)
    return found


def measure(server, fleet, way, count, rate, audience_size):
    made = fleet.create(rate) if rate else None
    if rate:
        # Under way, and past its first second.
        until(lambda: fleet.settled(made) >= rate)
    calls, standing = notify(fleet, way, count, "--interval", str(INTERVAL))
    if rate and fleet.settled(made) >= audience_size:
        raise RuntimeError("the campaign ended before the calls did")
    arrivals = arrived(fleet, calls, standing)
    waits = sorted((arrival - committed) / 1000 for arrival, (_, _, committed) in zip(arrivals, calls))
    whole = sorted((arrival - begun) / 1000 for arrival, (_, begun, _) in zip(arrivals, calls))
    figures = {f"commit to wire p{share}": waits[min(len(waits) - 1, len(waits) * share // 100)] for share in (50, 95, 99)}
    figures["call to wire p50"] = whole[len(whole) // 2]
    return figures


def throughput(server, fleet, way, count):
    """Callers at full speed: what is collected and sent in a second, from the first call on."""
    before = fleet.usage()
    calls, standing = notify(fleet, way, count, "--callers", "4")
    arrivals = arrived(fleet, calls, standing)
    after = fleet.usage()
    begun, committed = min(each[1] for each in calls), max(each[2] for each in calls)
    return {"calls made": len(calls) * 1e6 / (committed - begun), "calls collected": len(calls) * 1e6 / (max(arrivals) - begun),
            "database cpu": (after["database"] - before["database"]) * 1e6 / (len(calls) + WARM),
            "worker cpu": (after["worker"] - before["worker"]) * 1e6 / (len(calls) + WARM)}
