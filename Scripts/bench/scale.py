"""scale: what a push costs as the audience grows."""
from fleet import campaign, say


def bench(server, report, options, directory):
    sizes = [(100_000, options.rounds), (1_000_000, options.rounds)]
    if options.full:
        sizes.append((10_000_000, 1))
    if options.size:
        sizes = [(options.size, options.rounds), (options.size * 10, options.rounds)]
    costs = {}
    for count, rounds in options.choose(sizes, lambda each: str(each[0])):
        figures = [campaign(server, directory, count, "0ms", 2) for _ in range(rounds)]
        say(report, "scale", f"FCM, {count:,} subscribers", figures)
        costs[count] = [sum(value for name, value in each.items() if name.endswith(" cpu")) for each in figures]
    if not costs:
        return
    smallest = min(costs)
    base = sum(costs[smallest]) / len(costs[smallest])
    for count, values in costs.items():
        report.figure("scale", f"FCM, {count:,} subscribers", "all cpu", values, "us/push", f"{smallest:,} subscribers",
                      [each / base for each in values])
