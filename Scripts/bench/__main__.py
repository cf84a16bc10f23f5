"""Benchmarks that anyone can rerun; see Scripts/bench/README.md."""
import argparse
import os
import shutil
import sys
import tempfile

import expand
import fleet
import queue_bench
import scale
import send
from harness import Report, Server

BENCHMARKS = {"expand": expand, "queue": queue_bench, "send": send, "fleet": fleet, "scale": scale}


def options():
    parser = argparse.ArgumentParser(prog="Scripts/bench/run", description="Measures Pushfleet on this machine alone.")
    parser.add_argument("--only", help=f"one of {', '.join(BENCHMARKS)}, or NAME:CASE[,CASE] as the README lists them")
    parser.add_argument("--json", action="store_true", help="JSON lines in place of a table")
    parser.add_argument("--rounds", type=int, default=3, help="figures are medians of so many (default 3)")
    parser.add_argument("--size", type=int, help="jobs or subscribers, in place of each benchmark's own")
    parser.add_argument("--full", action="store_true", help="the sizes that take long, too")
    chosen = parser.parse_args()
    name, _, cases = (chosen.only or "").partition(":")
    if name and name not in BENCHMARKS:
        parser.error(f"--only {name} is unknown; there are {', '.join(BENCHMARKS)}")
    chosen.names = [name] if name else list(BENCHMARKS)
    wanted = set(cases.split(",")) if cases else None
    chosen.choose = lambda every, text: [each for each in every if wanted is None or text(each) in wanted]
    return chosen


def main():
    chosen = options()
    report = Report(chosen.json)
    for number, name in enumerate(chosen.names):
        directory = tempfile.mkdtemp(prefix="pushfleet-bench-")
        os.chmod(directory, 0o755)
        server = Server(os.path.join(directory, "postgres"))
        try:
            if number == 0:
                report.head(server)
            BENCHMARKS[name].bench(server, report, chosen, directory)
        finally:
            server.stop()
            shutil.rmtree(directory)
    sys.exit(0)


main()
