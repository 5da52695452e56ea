"""The realtime wire protocol over long polling, as the JavaScript SDK speaks it in a browser."""

import base64
import contextlib
import http.client
import json
import re
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from wire_client import SEGMENT, Conversation

URL_DATA = 1870
HEADER = 30
PIECE = URL_DATA - HEADER

START = re.compile(r"pLPCommand\('start','([-\w]+)','([-\w]+)'\);")
CLOSE = re.compile(r"pLPCommand\('close'(?:,(\d+))?\);")
BATCH = re.compile(r"pRTLPCB\((\d+),(\[.*\])\);")
FUNCTION = re.compile(r"function p(?:LPCommand|RTLPCB)\(.*")


class Closed(Exception):
    """The server has ended the session."""


def fetch(port, query, method="GET", timeout=40):
    """One request to `/.lp` on a connection of its own; returns status, headers and script."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, f"/.lp?{query}")
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def script(port, query, **options):
    """The script that a request is answered with, in parts, as `parse` has them."""
    status, headers, text = fetch(port, query, **options)
    assert status == 200, text
    assert headers["Content-Type"].startswith("application/javascript"), headers
    assert headers["Cache-Control"] == "no-cache"
    return parse(text)


def parse(text):
    """A script as a list: ("start", id, password), ("batch", number, messages), ("close", number or None).

    Checks that nothing stands in it that would end a script element, or a line of an old script."""
    assert "</" not in text and "\u2028" not in text and "\u2029" not in text
    parts = []
    for line in text.split("\n"):
        if not line or FUNCTION.fullmatch(line):
            continue
        if found := START.fullmatch(line):
            parts.append(("start", *found.groups()))
        elif found := CLOSE.fullmatch(line):
            parts.append(("close", found[1] and int(found[1])))
        elif found := BATCH.fullmatch(line):
            parts.append(("batch", int(found[1]), json.loads(found[2])))
        else:
            raise AssertionError(f"no client understands {line!r}")
    return parts


def pieces(text, size=PIECE):
    """The base64 pieces of a message."""
    encoded = base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode()
    encoded = encoded.replace("=", ".")
    return [encoded[at : at + size] for at in range(0, len(encoded), size)]


class Poll(Conversation):
    """One session. `jitter` is called before each request goes out, in a thread of its own."""

    def __init__(self, port, ns="demo", jitter=lambda: None, **parameters):
        self.port = port
        self.ns = ns
        self.jitter = jitter
        # Like the SDK: a condition for all that is shared by the threads of the requests.
        self.changed = threading.Condition()
        self.threads = ThreadPoolExecutor(max_workers=4)
        self.connections = threading.local()
        self.all_connections = []
        self.inbox = deque()
        self.segments = deque()
        self.segment_number = 0
        self.outstanding = 0
        self.serial = 1000
        self.batches = {}
        self.next_batch = 0
        self.close_after = None
        self.is_closed = False
        self.is_polling = False
        self.error = None
        self.upgraded = None
        query = "".join(f"&{name}={value}" for name, value in parameters.items())
        self.take(self.load(f"start=t&ser=1&cb=1&v=5&ns={ns}{query}"))
        self.hello = self.receive()
        with self.changed:
            self.is_polling = True
            self.pump()

    # Requests

    def load(self, query):
        connection = getattr(self.connections, "connection", None)
        if connection is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=40)
            self.connections.connection = connection
            self.all_connections.append(connection)
        connection.request("GET", f"/.lp?{query}")
        answer = connection.getresponse()
        text = answer.read().decode()
        assert answer.status == 200, text
        return parse(text)

    def pump(self):
        """Opens as many requests as the client may have: one, and one more while it has data to send."""
        while self.is_polling and self.outstanding < (2 if self.segments else 1):
            self.serial += 1
            query = f"id={self.id}&pw={self.password}&ser={self.serial}&ns={self.ns}"
            data, index = "", 0
            while self.segments and len(data) + HEADER + len(self.segments[0][2]) <= URL_DATA:
                number, count, text = self.segments.popleft()
                data += f"&seg{index}={number}&ts{index}={count}&d{index}={text}"
                index += 1
            self.outstanding += 1
            self.threads.submit(self.run, query + data)

    def run(self, query):
        try:
            self.jitter()
            parts = self.load(query)
        except Exception as error:
            with self.changed:
                # What is cut while the client goes is no fault.
                if self.is_polling:
                    self.error = error
                self.is_polling = False
                self.changed.notify_all()
            return
        with self.changed:
            self.outstanding -= 1
            self.take(parts)
            self.pump()

    def take(self, parts):
        with self.changed:
            for part in parts:
                if part[0] == "start":
                    self.id, self.password = part[1:]
                elif part[0] == "close":
                    self.is_polling = False
                    self.close_after = part[1] if part[1] else -1
                else:
                    assert part[1] not in self.batches and part[1] >= self.next_batch, part
                    self.batches[part[1]] = part[2]
            while self.next_batch in self.batches:
                self.inbox.extend(self.batches.pop(self.next_batch))
                self.next_batch += 1
            if self.close_after is not None and self.close_after < self.next_batch:
                self.is_closed = True
            self.changed.notify_all()

    # Messages

    def receive(self, timeout=120):
        if self.upgraded and not self.is_on_poll:
            return self.upgraded.receive(timeout)
        deadline = time.monotonic() + timeout
        with self.changed:
            while not self.inbox:
                if self.error:
                    raise self.error
                if self.is_closed:
                    raise Closed
                if not self.changed.wait(deadline - time.monotonic()):
                    raise TimeoutError
            message = self.inbox.popleft()
        if message == {"t": "c", "d": {"t": "n", "d": {}}}:
            assert self.upgraded and not self.inbox
            self.is_on_poll = False
            return self.upgraded.receive(timeout)
        return message

    def send_text(self, text):
        if self.upgraded and self.upgraded.is_sender:
            self.upgraded.send_text(text)
            return
        cut = pieces(text)
        with self.changed:
            for piece in cut:
                self.segments.append((self.segment_number, len(cut), piece))
                self.segment_number += 1
            if self.is_polling:
                self.pump()

    def ping(self):
        self.send_text('{"t":"c","d":{"t":"p","d":{}}}')

    # The end

    def close(self):
        """Says goodbye as the disconnect frame does."""
        if self.upgraded:
            self.upgraded.close()
        self.vanish()
        fetch(self.port, f"disconn=t&id={self.id}&pw={self.password}")

    def vanish(self):
        """Goes without a word."""
        with self.changed:
            self.is_polling = False
        for connection in self.all_connections:
            # Wakes the thread that waits for an answer.
            if connection.sock:
                connection.sock.shutdown(2)
        self.threads.shutdown()
        for connection in self.all_connections:
            connection.close()

    # The upgrade

    def upgrade(self, session=None, pause=lambda: None):
        """Moves to a WebSocket as the SDK does. What comes on the old way meanwhile stays in the inbox."""
        socket = Upgrade(self.port, self.ns, session or self.hello["d"]["d"]["s"])
        assert socket.receive() == {"t": "c", "d": {"t": "a", "d": {}}}
        for _ in range(2):
            socket.send_text('{"t":"c","d":{"t":"p","d":{}}}')
            assert socket.receive() == {"t": "c", "d": {"t": "o", "d": {}}}
            pause()
        self.is_on_poll = True
        self.upgraded = socket
        socket.send_text('{"t":"c","d":{"t":"a","d":{}}}')
        pause()
        self.send_text('{"t":"c","d":{"t":"n","d":{}}}')
        socket.is_sender = True


class Upgrade:
    """The WebSocket of a session that began over long polling."""

    def __init__(self, port, ns, session):
        self.stack = contextlib.ExitStack()
        address = f"ws://127.0.0.1:{port}/.ws?v=5&ns={ns}&s={session}"
        self.socket = self.stack.enter_context(
            connect(address, max_size=None, ping_interval=None)
        )
        self.is_sender = False

    def receive(self, timeout=120):
        try:
            text = self.socket.recv(timeout=timeout)
            if len(text) <= 6 and text.isdigit():
                text = "".join(self.socket.recv(timeout=timeout) for _ in range(int(text)))
        except ConnectionClosed:
            raise Closed from None
        return json.loads(text)

    def send_text(self, text):
        cut = [text[at : at + SEGMENT] for at in range(0, len(text), SEGMENT)]
        if len(cut) > 1:
            self.socket.send(str(len(cut)))
        for piece in cut:
            self.socket.send(piece)

    def close(self):
        self.stack.close()
