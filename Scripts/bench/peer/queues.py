"""Queue libraries with empty jobs: queues.py LIBRARY install|enqueue|work URL [COUNT]

Each by the fastest settings that its documentation names, found by trial: bulk enqueueing, results deleted where that can
be chosen, asyncio jobs, many at a time. `work` ends when nothing came for two seconds, and prints as JSON how many jobs
it ran, when the first and the last began (monotonic clock, that of all processes), and its CPU seconds.
"""
import asyncio
import json
import logging
import os
import sys
import time
from datetime import timedelta

IDLE_SECONDS = 2
START_SECONDS = 15


class Tally:
    def __init__(self):
        self.born = time.monotonic()
        self.first = self.last = None
        self.jobs = 0

    def note(self):
        self.last = time.monotonic()
        self.first = self.first or self.last
        self.jobs += 1

    def report(self):
        times = os.times()
        print(json.dumps({"jobs": self.jobs, "first": self.first, "last": self.last, "cpu": times.user + times.system}),
              flush=True)

    async def until_idle(self):
        """Then ends the process hard: some of these libraries take long to stop."""
        while (time.monotonic() - (self.last or self.born)) < (IDLE_SECONDS if self.last else START_SECONDS):
            await asyncio.sleep(0.1)
        self.report()
        os._exit(0)


TALLY = Tally()


async def chancy_job() -> None:
    TALLY.note()


class Procrastinate:
    def __init__(self, url):
        import procrastinate
        logging.getLogger("procrastinate").setLevel(logging.ERROR)
        self.app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, min_size=4, max_size=20))

        @self.app.task(name="empty", queue="bench")
        async def empty():
            TALLY.note()
        self.empty = empty

    async def install(self):
        async with self.app.open_async():
            await self.app.schema_manager.apply_schema_async()

    async def enqueue(self, count):
        async with self.app.open_async():
            for start in range(0, count, 1000):
                await self.empty.batch_defer_async(*[{} for _ in range(start, min(count, start + 1000))])

    async def work(self):
        async with self.app.open_async():
            await self.app.run_worker_async(queues=["bench"], concurrency=20, delete_jobs="always", listen_notify=False,
                                            fetch_job_polling_interval=0.1, install_signal_handlers=False)


class PgQueuer:
    def __init__(self, url):
        self.url = url

    async def driver(self):
        import asyncpg
        from pgqueuer.db import AsyncpgDriver
        return AsyncpgDriver(await asyncpg.connect(self.url))

    async def install(self):
        from pgqueuer.queries import Queries
        await Queries(await self.driver()).install()

    async def enqueue(self, count):
        from pgqueuer.queries import Queries
        queries = Queries(await self.driver())
        for start in range(0, count, 1000):
            size = min(count, start + 1000) - start
            await queries.enqueue(["empty"] * size, [None] * size, [0] * size)

    async def work(self):
        from pgqueuer import PgQueuer as Application
        application = Application(await self.driver())

        @application.entrypoint("empty")
        async def empty(job):
            TALLY.note()
        await application.run(batch_size=1000, dequeue_timeout=timedelta(seconds=0.1))


class Chancy:
    def __init__(self, url):
        import chancy
        self.library = chancy
        silent = logging.getLogger("chancy")
        silent.setLevel(logging.ERROR)
        # Without its optional plugins, which only cost.
        self.app = chancy.Chancy(url, log=silent, no_default_plugins=True)

    async def install(self):
        async with self.app as app:
            await app.migrate()
            await app.declare(self.library.Queue(
                "bench", concurrency=2000, executor="chancy.executors.asyncex.AsyncExecutor", eager_polling=True,
                polling_interval=1))

    async def enqueue(self, count):
        jobs = [self.library.Job.from_func(chancy_job, queue="bench") for _ in range(count)]
        async with self.app as app:
            async for _ in app.push_many(jobs, batch_size=1000):
                pass

    async def work(self):
        async with self.app as app:
            worker = self.library.Worker(app, register_signal_handlers=False)
            worker.send_outgoing_interval = 0.1
            async with worker:
                await worker.wait_for_shutdown()


class Oban:
    def __init__(self, url):
        self.url = url

    async def open(self, **more):
        from oban import Oban as Application, job
        pool = await Application.create_pool(self.url, min_size=2, max_size=20)

        @job(queue="bench")
        async def empty():
            TALLY.note()
        self.empty = empty
        return pool, Application(pool=pool, **more)

    async def install(self):
        from oban.schema import install
        pool, _ = await self.open()
        await install(pool)

    async def enqueue(self, count):
        _, application = await self.open()
        for start in range(0, count, 1000):
            await application.enqueue_many([self.empty.new() for _ in range(start, min(count, start + 1000))])

    async def work(self):
        _, application = await self.open(queues={"bench": 500})
        async with application:
            await asyncio.Event().wait()


LIBRARIES = {"procrastinate": Procrastinate, "pgqueuer": PgQueuer, "chancy": Chancy, "oban": Oban}


async def main():
    name, action, url = sys.argv[1:4]
    library = LIBRARIES[name](url)
    if action == "work":
        idle = asyncio.create_task(TALLY.until_idle())
        await library.work()
        await idle
    elif action == "enqueue":
        await library.enqueue(int(sys.argv[4]))
    else:
        await library.install()


if __name__ == "__main__":
    # Jobs are found again by the module's name.
    sys.modules["queues"] = sys.modules["__main__"]
    chancy_job.__module__ = "queues"
    asyncio.run(main())
