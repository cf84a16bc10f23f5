"""What a user would build for the whole job: a queue library and a sender.

combination.py SENDER enqueue URL COUNT        reads the audience and puts a job for each into pgqueuer
combination.py SENDER work URL --state … --simulator URL
                                               pgqueuer's worker sends each by the sender, many at a time
"""
import argparse
import asyncio
import json
import time
from datetime import timedelta

from queues import TALLY, PgQueuer
from senders import make


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("sender")
    parser.add_argument("action", choices=["enqueue", "work"])
    parser.add_argument("url")
    parser.add_argument("count", nargs="?", type=int)
    parser.add_argument("--state")
    parser.add_argument("--simulator")
    return parser.parse_args()


async def enqueue(url, count):
    import asyncpg
    from pgqueuer.queries import Queries
    source = await asyncpg.connect(url)
    queries = Queries(await PgQueuer(url).driver())
    begun, last = time.monotonic(), 0
    while last < count:
        rows = await source.fetch("SELECT id, address FROM pushfleet.subscriber WHERE id > $1 ORDER BY id LIMIT 1000", last)
        await queries.enqueue(["push"] * len(rows), [json.dumps([each["id"], each["address"]]).encode() for each in rows],
                              [0] * len(rows))
        last = rows[-1]["id"]
    print(json.dumps({"first": begun, "cpu": time.process_time()}), flush=True)


async def work(chosen):
    from pgqueuer import PgQueuer as Application
    sender = make(chosen.sender, chosen.state, chosen.simulator)
    application = Application(await PgQueuer(chosen.url).driver())

    @application.entrypoint("push")
    async def push(job):
        number, address = json.loads(job.payload)
        if await sender.send_many([address], number) != 1:
            raise RuntimeError("refused")
        TALLY.note()
    idle = asyncio.create_task(TALLY.until_idle())
    await application.run(batch_size=100, max_concurrent_tasks=400, dequeue_timeout=timedelta(seconds=0.1))
    await idle


def main():
    chosen = options()
    asyncio.run(enqueue(chosen.url, chosen.count) if chosen.action == "enqueue" else work(chosen))


main()
