"""One kind of abusive client, as a process of its own.

    abuser.py KIND PORT

Prints `ready` when it is under way, goes on until its standard input ends, and gives way to the server and to honest
clients (lowest priority). What it does a second is bounded, so that two processors have time for all three.
"""

import contextlib
import gzip
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Clients"))

from raw_http import request  # noqa: E402

# Where `isolation.py` has put a value of some MB, and a rule with a pattern that takes long.
LARGE, PATTERN = "/large", "/pattern"
UPGRADE = request(
    "GET", "/.ws?v=5&ns=bench", b"", "Upgrade: websocket", "Connection: Upgrade",
    "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)
# A client's first message of TLS 1.2, with nothing in it that a server could do without.
HELLO = bytes.fromhex(
    "1603010041" "0100003d" "0303" + 32 * "07" + "00" "0002c02b" "0100" "0012" "000a00040002" "0017" "000d000400020403"
    "00170000"
)


def frame(text, size=None):
    """A client's frame of a text; `size` is what its head says where the end is to be missing."""
    count = len(text) if size is None else size
    if count < 126:
        head = bytes([0x81, 0x80 | count])
    elif count < 65536:
        head = struct.pack("!BBH", 0x81, 0xFE, count)
    else:
        head = struct.pack("!BBQ", 0x81, 0xFF, count)
    return head + bytes(4) + text


def message(number, action, **body):
    return json.dumps({"t": "d", "d": {"r": number, "a": action, "b": body}}).encode()


def segments(text):
    """A long message in the protocol's pieces."""
    pieces = [text[at : at + 16384] for at in range(0, len(text), 16384)]
    count = [frame(str(len(pieces)).encode())] if len(pieces) > 1 else []
    return b"".join(count + [frame(piece) for piece in pieces])


class Abuser:
    """What all kinds have in common. A kind sets up, and then is called again and again, `rate` times a second."""

    rate = 20

    def __init__(self, port):
        self.port = port
        self.sockets = []
        self.set_up()

    def set_up(self):
        """Opens what there is to open."""

    def again(self):
        """Does its share of harm."""

    def end(self):
        """Ends what would outlast this process."""

    def connect(self, first=b"", receive_buffer=None):
        found = socket.socket()
        if receive_buffer:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        found.connect(("127.0.0.1", self.port))
        if first:
            found.sendall(first)
        found.setblocking(False)
        return found

    def open_socket(self, **options):
        """A WebSocket that is open."""
        found = self.connect(UPGRADE, **options)
        found.settimeout(60)
        while b'"h"' not in (part := found.recv(4096)):
            if not part:
                raise ConnectionError("no WebSocket was opened")
        found.setblocking(False)
        return found

    def keep(self, count, make):
        """Opens again what the server has closed, a few at a time."""
        self.sockets = [one for one in self.sockets if not is_over(one)]
        for _ in range(min(count - len(self.sockets), 50)):
            with contextlib.suppress(OSError):
                self.sockets.append(make())


def is_over(one):
    try:
        return one.recv(1 << 16) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def send(one, data):
    """Sends what fits; whether the connection is there."""
    try:
        one.send(data)
    except BlockingIOError:
        pass
    except OSError:
        return False
    return True


class Spin(Abuser):
    """No client at all: a process that is as busy as the others, so that a row shows what that alone does."""

    def again(self):
        end = time.monotonic() + 0.5 / self.rate
        while time.monotonic() < end:
            pass


class SlowReaders(Abuser):
    """100 WebSockets that listen to a value of some MB, and read 4 KiB at a time."""

    def set_up(self):
        while len(self.sockets) < 100:
            self.sockets.append(self.open_listener())

    def open_listener(self):
        found = self.open_socket(receive_buffer=4096)
        found.send(frame(message(1, "q", p=LARGE, h="")))
        return found

    def again(self):
        for index, one in enumerate(self.sockets):
            try:
                if one.recv(4096):
                    continue
            except BlockingIOError:
                continue
            except OSError:
                pass
            self.sockets[index] = self.open_listener()


class SlowGzip(SlowReaders):
    """100 GETs of that value as gzip, read 4 KiB at a time."""

    def open_listener(self):
        return self.connect(request("GET", LARGE + ".json?ns=bench", b"", "Accept-Encoding: gzip"), 4096)


class SilentSockets(Abuser):
    """2,000 connections that say nothing, opened again when the server has closed them."""

    rate = 5

    def set_up(self):
        while len(self.sockets) < 2_000:
            self.keep(2_000, self.connect)

    def again(self):
        self.keep(2_000, self.connect)


class HeaderDrip(Abuser):
    """500 requests whose heads come a byte at a time: 1,000 bytes a second."""

    count, step = 500, 50
    first = b"GET /x.json HTTP/1.1\r\nHost: localhost\r\nX-Long: "
    turn = 0

    def set_up(self):
        while len(self.sockets) < self.count:
            self.sockets.append(self.connect(self.first))

    def again(self):
        for _ in range(self.step):
            self.turn = (self.turn + 1) % self.count
            if not send(self.sockets[self.turn], b"x"):
                self.sockets[self.turn] = self.connect(self.first)


class BodyDrip(HeaderDrip):
    """The same with bodies."""

    first = request("PUT", "/x.json?ns=bench", b'"', "Content-Length: 1000000")


class SlowHandshakes(Abuser):
    """500 TLS handshakes that stop after their first message, and 100 a second more in place of the oldest."""

    def set_up(self):
        self.sockets = [self.connect(HELLO) for _ in range(500)]

    def again(self):
        for _ in range(5):
            self.sockets.pop(0).close()
            self.sockets.append(self.connect(HELLO))


class IdleConnections(Abuser):
    """10,000 WebSockets, each with a listen, that say nothing."""

    rate = 1
    count = 10_000

    def set_up(self):
        for _ in range(self.count):
            one = self.open_socket()
            one.send(frame(message(1, "q", p="/quiet", h="")))
            self.sockets.append(one)


class Flood(Abuser):
    """1,000 connections a second, each closed at once."""

    rate = 100

    def again(self):
        for _ in range(10):
            self.connect().close()


class ListenBombs(Abuser):
    """10,000 listens at once, and once more when they are answered."""

    def set_up(self):
        self.burst = b"".join(frame(message(n, "q", p=f"/bomb/{n}", h="")) for n in range(10_000))
        self.socket = self.open_socket()
        self.unsent = memoryview(self.burst)

    def again(self):
        if self.unsent:
            with contextlib.suppress(BlockingIOError):
                while self.unsent:
                    self.unsent = self.unsent[self.socket.send(self.unsent) :]
                    self.read()
        else:
            self.unsent = memoryview(self.burst)
        self.read()

    def read(self):
        with contextlib.suppress(BlockingIOError):
            while self.socket.recv(1 << 20):
                pass


class Repeated(Abuser):
    """One request after another, each when the one before is answered, and with a pause as long as that took."""

    ending = b'"s":'

    def set_up(self):
        self.socket = self.open_socket()
        self.data = self.make()

    def make(self):
        """What is sent."""

    def again(self):
        began = time.monotonic()
        self.socket.settimeout(60)
        self.socket.sendall(self.data)
        rest = b""
        while self.ending not in rest:
            part = self.socket.recv(1 << 20)
            if not part:
                self.socket = self.open_socket()
                break
            rest = rest[-64:] + part
        time.sleep(min(time.monotonic() - began, 1))


class HugeFrames(Repeated):
    """Puts of 15 MB in one frame, which the server reads and refuses: a text has 10 MB."""

    def make(self):
        return frame(message(1, "p", p="/huge", d="x" * 15_000_000))


class LongUpdates(Repeated):
    """Updates of 100,000 paths."""

    def make(self):
        return segments(message(1, "m", p="/update", d={f"a{n % 100}/k{n}": n for n in range(100_000)}))


class PatternBombs(Repeated):
    """Puts of 8,000 characters that a pattern with many ways has to be held against."""

    def make(self):
        return frame(message(1, "p", p=PATTERN, d="a" * 8_000 + "!"))


class CompressedBombs(Repeated):
    """PUTs of 10,000 bytes that come to 10 MB of a list."""

    ending = b"\r\n\r\n"

    def open_socket(self, **options):
        return self.connect(**options)

    def make(self):
        body = gzip.compress(b"[" + b"0," * 5_000_000 + b"0]", 9)
        return request("PUT", "/zeros.json?ns=bench&print=silent", body, "Content-Encoding: gzip")


class PipelinedReads(Abuser):
    """100 connections that each ask 50 times for a value of some MB, and read 4 KiB at a time."""

    def set_up(self):
        self.ask = request("GET", LARGE + ".json?ns=bench") * 50
        self.sockets = [self.connect(self.ask, receive_buffer=4096) for _ in range(100)]

    def again(self):
        for index, one in enumerate(self.sockets):
            with contextlib.suppress(BlockingIOError):
                try:
                    if one.recv(4096):
                        continue
                except ConnectionError:
                    pass
                self.sockets[index] = self.connect(self.ask, receive_buffer=4096)


class Leavers(Abuser):
    """5,000 WebSockets, each with a listen, of a process that is killed when all are open, again and again."""

    rate = 5

    def set_up(self):
        self.spawn()
        select.select([self.reading], [], [])

    def spawn(self):
        self.reading, writing = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            IdleConnections.count = 5_000
            held = IdleConnections(self.port)
            os.write(writing, b"%d" % len(held.sockets))
            signal.pause()
        os.close(writing)

    def again(self):
        if select.select([self.reading], [], [], 0)[0]:
            self.end()
            self.spawn()

    def end(self):
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        os.close(self.reading)


KINDS = {
    "busy": Spin, "slow-readers": SlowReaders, "slow-gzip": SlowGzip, "silent": SilentSockets,
    "header-drip": HeaderDrip, "body-drip": BodyDrip, "handshakes": SlowHandshakes, "idle": IdleConnections,
    "flood": Flood, "listens": ListenBombs, "frames": HugeFrames, "bombs": CompressedBombs,
    "patterns": PatternBombs, "updates": LongUpdates, "pipelined": PipelinedReads, "leavers": Leavers,
}


def main():
    kind, port = sys.argv[1], int(sys.argv[2])
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    os.nice(19)
    abuser = KINDS[kind](port)
    print("ready", flush=True)
    due = time.monotonic()
    while True:
        # What is late is not made up for.
        due = max(due + 1 / abuser.rate, time.monotonic())
        if select.select([sys.stdin], [], [], max(0, due - time.monotonic()))[0]:
            break
        abuser.again()
    abuser.end()


if __name__ == "__main__":
    main()
