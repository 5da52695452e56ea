"""TCP proxies between a client of `/.ws` and a server that disturb one step of what passes, by a fixed schedule."""

import asyncio
import struct
import threading

# A delay that is long enough for everything else under way to pass.
DELAY = 0.25

FAULTS = ("cut before", "cut after", "halve", "delay", "swap")


class Units:
    """Cuts a stream into its units: the head of the upgrade, then WebSocket frames."""

    def __init__(self):
        self.held = bytearray()
        self.is_upgraded = False

    def feed(self, data):
        self.held += data
        units = []
        while length := self.length():
            units.append(bytes(self.held[:length]))
            del self.held[:length]
        return units

    def length(self):
        """Bytes of the first unit, or 0 while it is not whole."""
        held = self.held
        if not self.is_upgraded:
            end = held.find(b"\r\n\r\n")
            if end < 0:
                return 0
            self.is_upgraded = True
            return end + 4
        if len(held) < 2:
            return 0
        size, head = held[1] & 127, 2
        if size > 125:
            wide = 2 if size == 126 else 8
            if len(held) < 2 + wide:
                return 0
            size = struct.unpack(">H" if wide == 2 else ">Q", held[2 : 2 + wide])[0]
            head += wide
        if held[1] & 128:
            head += 4
        return head + size if len(held) >= head + size else 0


class Link:
    """One connection of the client and the one to the server that belongs to it."""

    def __init__(self, client, server):
        self.client = client
        self.server = server
        self.is_cut = False
        self.is_held = False

    def cut(self):
        self.is_cut = True
        self.client.close()
        self.server.close()


class FaultProxy:
    """One listening port. The unit of number `at`, counted over all of its connections, is disturbed by `fault`.

    - cut before: both connections close, the unit is lost.
    - cut after: it arrives, and both connections close.
    - halve: its first half arrives, and both connections close.
    - delay: it arrives later, and so does what follows in its direction.
    - swap: it arrives, the client's connection closes, the server's stays open until the client's next one is upgraded.
    - tell: it arrives, a test that waits for `proxies.arrived` goes on, and nothing more passes over these connections.
    """

    def __init__(self, proxies, fault=None, at=0):
        self.proxies = proxies
        self.fault = fault
        self.at = at
        self.count = 0
        self.connections = 0
        self.lingering = None
        self.port = None

    async def listen(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.proxies.servers.append(server)

    async def serve(self, reader, writer):
        self.connections += 1
        try:
            from_server, to_server = await asyncio.open_connection(
                "127.0.0.1", self.proxies.target
            )
        except OSError:
            writer.close()
            return
        link = Link(writer, to_server)
        await asyncio.gather(
            self.pump(reader, to_server, link, False), self.pump(from_server, writer, link, True)
        )

    async def pump(self, reader, writer, link, is_from_server):
        units = Units()
        try:
            while data := await reader.read(65536):
                for unit in units.feed(data):
                    if link.is_cut or link.is_held:
                        continue
                    await self.forward(unit, writer, link)
                    if is_from_server and self.lingering and self.lingering is not link:
                        self.lingering.server.close()
                        self.lingering = None
        except OSError:
            pass
        if self.lingering is not link:
            link.cut()

    async def forward(self, unit, writer, link):
        self.count += 1
        fault = self.fault if self.count == self.at else None
        if fault == "cut before":
            link.cut()
            return
        if fault == "delay":
            await asyncio.sleep(DELAY)
        writer.write(unit[: len(unit) // 2] if fault == "halve" else unit)
        await writer.drain()
        if fault in ("cut after", "halve"):
            link.cut()
        elif fault == "tell":
            link.is_held = True
            self.proxies.arrived.set()
        elif fault == "swap":
            self.lingering = link
            link.is_cut = True
            link.client.close()


class Proxies:
    """Many fault proxies on one loop, in a thread of its own. `target` is the server's port, which may become another."""

    def __init__(self, target):
        self.target = target
        self.arrived = threading.Event()
        self.servers = []
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def add(self, fault=None, at=0):
        proxy = FaultProxy(self, fault, at)
        asyncio.run_coroutine_threadsafe(proxy.listen(), self.loop).result(10)
        return proxy

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        asyncio.run_coroutine_threadsafe(self.close(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    async def close(self):
        for server in self.servers:
            server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
