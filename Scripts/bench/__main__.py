"""Benchmarks that anyone can rerun; see Scripts/bench/README.md."""
import argparse
import contextlib
import fnmatch
import os
import sys

import expand
import fleet
import growth
import latency
import peers
import profile_fleet
import queue_bench
import reports_bench
import scale
import send
from ending import end_on_signals, folder
from harness import Report, Server

BENCHMARKS = {"expand": expand, "queue": queue_bench, "send": send, "fleet": fleet, "latency": latency, "scale": scale,
              "growth": growth, "peers": peers, "reports": reports_bench, "profile": profile_fleet}
# What looks for causes is run by name alone.
NAMED_ONLY = {"profile"}


def options():
    parser = argparse.ArgumentParser(prog="Scripts/bench/run", description="Measures Pushfleet on this machine alone.")
    parser.add_argument("--only", action="append", default=[], metavar="NAME[:CASE][,NAME[:CASE]...]",
                        help=f"of {', '.join(BENCHMARKS)}; CASE as the README lists them, and * within it stands for any text. "
                        "A CASE without NAME belongs to the NAME before it")
    parser.add_argument("--json", action="store_true", help="JSON lines in place of a table")
    parser.add_argument("--rounds", type=int, default=3, help="figures are medians of so many (default 3)")
    parser.add_argument("--size", type=int, help="jobs or subscribers, in place of each benchmark's own")
    parser.add_argument("--full", action="store_true", help="the sizes that take long, too")
    chosen = parser.parse_args()
    try:
        chosen.names = selection(chosen.only)
    except ValueError as problem:
        parser.error(str(problem))
    return chosen


def selection(texts):
    """Benchmarks by name, with the patterns of their cases; none = all cases.

    `queue:500x2,held,send` is two cases of the one and all of the other.
    """
    chosen, last = {}, None
    for word in (word for text in texts for word in text.split(",")):
        name, colon, case = word.partition(":")
        if name in BENCHMARKS:
            last = name
            chosen.setdefault(name, [])
        elif not colon and last and chosen[last]:
            case = name
        else:
            raise ValueError(f"--only {word}: there is no such benchmark; use {', '.join(BENCHMARKS)}")
        if case:
            chosen[last].append(case)
    return chosen or {name: [] for name in BENCHMARKS if name not in NAMED_ONLY}


class Chooser:
    """Which of a benchmark's cases are wanted, by their names."""

    def __init__(self, patterns):
        self.patterns, self.unused = patterns, set(patterns)

    def __call__(self, every, text):
        if not self.patterns:
            return every
        matches = {text(each): [one for one in self.patterns if fnmatch.fnmatchcase(text(each), one)] for each in every}
        self.unused.difference_update(one for some in matches.values() for one in some)
        return [each for each in every if matches[text(each)]]


def main():
    chosen = options()
    end_on_signals()
    report = Report(chosen.json)
    for number, (name, patterns) in enumerate(chosen.names.items()):
        chosen.choose = Chooser(patterns)
        with contextlib.ExitStack() as ends:
            directory = folder(ends, "bench", lambda: False, report.note)
            server = Server(os.path.join(directory, "postgres"), ends, getattr(BENCHMARKS[name], "SETTINGS", ()))
            if number == 0:
                report.head(server)
            BENCHMARKS[name].bench(server, report, chosen, directory)
        if chosen.choose.unused:
            sys.exit(f"--only {name}: there is no case {', '.join(sorted(chosen.choose.unused))}; see the README")


main()
