#!/usr/bin/env python3
"""Passes TCP connections on, and breaks them when told to.

    relay.py TARGET_HOST:PORT COUNT

Listens on COUNT free ports of 127.0.0.1 and prints them, one a line. Commands on standard input:

    sever N     resets all connections of port number N (from 0)
    silence N   makes them half-open: nothing passes any more and nobody is told; new connections pass
    mute N      the same, and nothing passes on new connections either, until `unmute N`; what was opened before that
                stays silent
"""
import asyncio
import socket
import struct
import sys


class Port:
    """One listening port and its live connections."""

    def __init__(self, host, port):
        self.target = (host, port)
        self.connections = set()
        self.muted = False

    async def accept(self, reader, writer):
        if self.muted:
            try:
                while await reader.read(65536):
                    pass
            except OSError:
                pass
            writer.close()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection(*self.target)
        except OSError:
            reset(writer)
            return
        connection = Connection(self, (reader, writer), (far_reader, far_writer))
        self.connections.add(connection)
        try:
            await connection.run()
        finally:
            self.connections.discard(connection)


class Connection:
    def __init__(self, port, near, far):
        self.port, self.near, self.far = port, near, far
        self.silent = asyncio.Event()

    async def run(self):
        ways = [asyncio.create_task(self.pass_on(self.near[0], self.far[1])),
                asyncio.create_task(self.pass_on(self.far[0], self.near[1]))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        if self.silent.is_set():
            # Both ends believe in it for as long as they like, up to a minute or the end of the silence.
            await asyncio.sleep(60)
            while self.port.muted:
                await asyncio.sleep(1)
        for way in ways:
            way.cancel()
        for writer in (self.near[1], self.far[1]):
            writer.close()

    async def pass_on(self, reader, writer):
        try:
            while data := await reader.read(65536):
                if self.silent.is_set():
                    return
                writer.write(data)
                await writer.drain()
        except OSError:
            pass

    def sever(self):
        for writer in (self.near[1], self.far[1]):
            reset(writer)


def reset(writer):
    raw = writer.get_extra_info("socket")
    if raw is not None:
        try:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass
    writer.transport.abort()


async def obey(ports):
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := (await commands.readline()).decode().split():
        port = ports[int(line[1])]
        if line[0] in ("mute", "unmute"):
            port.muted = line[0] == "mute"
        if line[0] == "unmute":
            continue
        for connection in list(port.connections):
            if line[0] == "sever":
                connection.sever()
            else:
                connection.silent.set()


async def main():
    host, port = sys.argv[1].rsplit(":", 1)
    ports, servers = [], []
    for _ in range(int(sys.argv[2])):
        relay = Port(host, int(port))
        server = await asyncio.start_server(relay.accept, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        ports.append(relay)
        servers.append(server)
    await obey(ports)


asyncio.run(main())
