#!/usr/bin/env python3
"""What Python's zoneinfo says of wall clocks, to hold our answers against.

    zones.py instants [--from YEAR] [--years N] [--full] < ZONES
    zones.py daily [--from YEAR] [--years N] MINUTE HOUR[,HOUR...] < ZONES

Zones come one a line on standard input. `instants` prints ZONE TAB WALL TAB INSTANT: wall minutes since 1970 and seconds
since 1970, around every change of a zone's clock and once a month; with --full every half hour of every day. `daily`
prints ZONE TAB INSTANT for each day and hour, each instant once.

The rules: a wall time that clocks jump over is due at the first instant after the jump; one that they show twice, at the
first of the two.
"""
import argparse
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1)
UTC = timezone.utc


def shown(second, zone):
    """The wall time at an instant, in seconds since 1970-01-01T00:00 on the wall."""
    local = datetime.fromtimestamp(second, zone)
    return second + int(local.utcoffset().total_seconds())


def instant(wall, zone):
    """The first instant at which the clock shows `wall` (a naive datetime) or has jumped over it."""
    asked = int((wall - EPOCH).total_seconds())
    first = int(wall.replace(tzinfo=zone, fold=0).timestamp())
    if shown(first, zone) == asked:
        return first
    # In a gap the earlier offset (fold 0) gives an instant after the jump, the later one an instant before it.
    low, high = int(wall.replace(tzinfo=zone, fold=1).timestamp()), first
    while high - low > 1:
        middle = (low + high) // 2
        if shown(middle, zone) < asked:
            low = middle
        else:
            high = middle
    return high


def changes(zone, start, end):
    """Instants at which the offset changes, to the second, from a look at every six hours."""
    step = 6 * 3600
    second = int(start.replace(tzinfo=UTC).timestamp())
    last = int(end.replace(tzinfo=UTC).timestamp())
    found = []
    while second < last:
        if shown(second, zone) - second != shown(second + step, zone) - second - step:
            low, high = second, second + step
            while high - low > 1:
                middle = (low + high) // 2
                if shown(middle, zone) - middle == shown(second, zone) - second:
                    low = middle
                else:
                    high = middle
            found.append(high)
        second += step
    return found


def walls(zone, start, end, full):
    if full:
        wall = start
        while wall < end:
            yield wall
            wall += timedelta(minutes=30)
        return
    for months in range((end.year - start.year) * 12):
        yield datetime(start.year + months // 12, months % 12 + 1, 1, 9, 0)
    for change in changes(zone, start, end):
        for before in (-1, 0):
            edge = EPOCH + timedelta(seconds=shown(change + before, zone))
            edge = edge.replace(second=0)
            for minutes in (-90, -60, -31, -30, -15, -1, 0, 1, 15, 29, 30, 45, 59, 60, 90):
                yield edge + timedelta(minutes=minutes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["instants", "daily"])
    parser.add_argument("minute", nargs="?", type=int, default=0)
    parser.add_argument("hours", nargs="?", default="0")
    parser.add_argument("--from", dest="start", type=int, default=2026)
    parser.add_argument("--years", type=int, default=3)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    start, end = datetime(options.start, 1, 1), datetime(options.start + options.years, 1, 1)
    for name in sys.stdin.read().split("\n"):
        if not name:
            continue
        zone = ZoneInfo(name)
        lines = []
        if options.mode == "instants":
            for wall in walls(zone, start, end, options.full):
                minutes = int((wall - EPOCH).total_seconds()) // 60
                lines.append(f"{name}\t{minutes}\t{instant(wall, zone)}\n")
        else:
            hours = [int(hour) for hour in options.hours.split(",")]
            found = set()
            day = start
            while day < end:
                found.update(instant(day.replace(hour=hour, minute=options.minute), zone) for hour in hours)
                day += timedelta(days=1)
            lines = [f"{name}\t{second}\n" for second in sorted(found)]
        sys.stdout.write("".join(lines))


main()
