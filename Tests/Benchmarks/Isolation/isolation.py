"""How much abusive clients harm an honest one: `scripts/bench` measures and prints it with this.

For each kind of `abuser.py` a server of its own, and on it in turn a probe alone and beside the abuser, round after round.
"""

import contextlib
import json
import os
import random
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

ABUSER = Path(__file__).with_name("abuser.py")
RATE = 500
GOAL, TICK_GOAL = 1.2, 50
# What memory may keep after an abuser has left, and what it wrote is removed: free room of the allocator, caches that have their own limits.
MEMORY_GOAL = 16

KINDS = {
    "busy": "a process as busy, and no abuse",
    "slow-readers": "100 slow readers of a large listen",
    "slow-gzip": "100 slow readers of a large gzip answer",
    "silent": "2,000 silent sockets",
    "header-drip": "500 heads that drip",
    "body-drip": "500 bodies that drip",
    "handshakes": "500 TLS handshakes that stop, 100/s more",
    "idle": "10,000 idle connections",
    "flood": "1,000 connections a second",
    "listens": "10,000 listens at a time",
    "frames": "frames of 15 MB",
    "bombs": "gzip bodies of 10 KB that come to 10 MB",
    "patterns": "a rule's pattern over 8,000 characters",
    "updates": "updates of 100,000 paths",
    "pipelined": "100 × 50 pipelined GETs of a large value",
    "leavers": "5,000 sockets that close at once",
}
RULES = json.dumps({
    "rules": {
        ".read": True, ".write": True,
        "pattern": {".validate": "newData.isString() && newData.val().matches(/^(a|aa)*(a|aa)*(a|aa)*b$/)"},
    }
})
# For kinds that read it: some 4 MB of text, of which gzip makes the half.
LARGE = {f"k{number:05}": random.Random(number).randbytes(90).hex() for number in range(20_000)}

# Where abusers write.
WRITTEN = ("/huge", "/update", "/zeros")

# As those of scripts/bench: figure, text, form, subject, held against, goal for the ratio, whether larger is better.
ROWS = [
    (f"isolation {kind} {share}", f"a probe's put -> listener beside {text}, {share}", "{:,.1f} µs",
     "beside", "alone", goal, False)
    for kind, text in KINDS.items()
    for share, goal in (("p50", None), ("p99", GOAL))
]
# figure, text, form, goal for Hearth's own value.
ABSOLUTE_ROWS = [
    (f"isolation {kind} {figure}", f"{what}, {text}", form, goal)
    for kind, text in KINDS.items()
    for figure, what, form, goal in (
        ("tick", "longest tick", "{:,.1f} ms", TICK_GOAL),
        ("before", "memory before", "{:,.1f} MB", None),
        ("worst", "memory at the worst", "{:,.1f} MB", None),
        ("kept", "memory kept afterwards", "{:,.1f} MB", MEMORY_GOAL),
    )
]


class Figures:
    """The metrics of a server, and its memory, whose maximum is noted while it is a context."""

    def __init__(self, server, context):
        self.server = server
        self.context = context
        self.stopping = threading.Event()
        self.worst = 0

    def metric(self, name):
        scheme = "https" if self.context else "http"
        address = f"{scheme}://127.0.0.1:{self.server.port}/.metrics"
        with urllib.request.urlopen(address, timeout=60, context=self.context) as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith(name + " "):
                    return float(line.split()[1])
        raise KeyError(name)

    def watch(self):
        while not self.stopping.wait(0.02):
            self.worst = max(self.worst, self.server.resident)

    def __enter__(self):
        self.stopping.clear()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()


@contextlib.contextmanager
def abuse(kind, server, left):
    with subprocess.Popen(
        [sys.executable, ABUSER, kind, str(server.port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            if process.stdout.readline() != "ready\n":
                raise RuntimeError(f"the abuser {kind} did not begin")
            yield
            if process.poll() is not None:
                raise RuntimeError(f"the abuser {kind} ended")
            process.stdin.close()
            process.wait(timeout=left())
        finally:
            process.kill()


def frame(text):
    head = bytes([0x81, 0x80 | len(text)]) if len(text) < 126 else bytes([0x81, 0xFE]) + len(text).to_bytes(2, "big")
    return head + bytes(4) + text


class SecureProbe:
    """The probe over TLS, which `rtload` does not speak: one writer, one listener."""

    def __init__(self, port, context):
        self.writer, self.listener = [self.open(port, context) for _ in range(2)]
        self.listener.sendall(frame(b'{"t":"d","d":{"r":1,"a":"q","b":{"p":"/probe","h":""}}}'))
        while b'"ok"' not in self.listener.recv(65536):
            pass

    @staticmethod
    def open(port, context):
        plain = socket.create_connection(("127.0.0.1", port), timeout=60)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        found = context.wrap_socket(plain)
        found.sendall(
            b"GET /.ws?v=5&ns=bench HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        while b'"h"' not in found.recv(4096):
            pass
        return found

    def measure(self, seconds):
        """The times from put to listener, one put at a time."""
        times = []
        begin = time.monotonic()
        for number in range(int(seconds * RATE)):
            time.sleep(max(0, begin + number / RATE - time.monotonic()))
            start = time.monotonic()
            text = f'{{"t":"d","d":{{"r":{number + 2},"a":"p","b":{{"p":"/probe","d":{number}}}}}}}'
            self.writer.sendall(frame(text.encode()))
            while f'"d":{number}}}'.encode() not in self.listener.recv(65536):
                pass
            times.append(1e6 * (time.monotonic() - start))
        times.sort()
        return {"p50_us": times[len(times) // 2], "p99_us": times[int(len(times) * 0.99)]}


def identity(folder):
    """A certificate of our own: its file, its key, and a client's trust in anything."""
    folder.mkdir(exist_ok=True)
    files = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-newkey", "ec",
         "-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", files[1], "-out", files[0]],
        check=True, capture_output=True,
    )
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return files, context


def measure(bench, make_server, left, seconds, rounds, kinds=tuple(KINDS), ahead=False):
    """`make_server` takes a folder, rules and further flags; `left` says how much time the whole run has; `ahead` lets the
    server's loop go before all else on the machine, so that ticks are its own on a busy one, too."""
    for kind in kinds:
        print(f"bench: {KINDS[kind]}", file=sys.stderr)
        flags, context = [], None
        if kind == "handshakes":
            (certificate, key), context = identity(bench.folder / "identity")
            flags = ["--tls-cert", str(certificate), "--tls-key", str(key)]
        with make_server(bench.folder / "isolation", RULES, flags) as server:
            if ahead:
                # The first thread, which is the loop; the others stay where they are.
                os.sched_setscheduler(server.process.pid, os.SCHED_RR, os.sched_param(5))
            if not context:
                fill(server)
            measure_kind(bench, kind, server, context, left, seconds, rounds)


def ask(server, method, path, body=None, context=None):
    scheme = "https" if context else "http"
    address = f"{scheme}://127.0.0.1:{server.port}{path}.json?ns=bench&print=silent"
    call = urllib.request.Request(address, body, method=method)
    urllib.request.urlopen(call, timeout=60, context=context).close()


def fill(server):
    ask(server, "PUT", "/large", json.dumps(LARGE).encode())


def measure_kind(bench, kind, server, context, left, seconds, rounds):
    figures = Figures(server, context)
    probe = SecureProbe(server.port, context) if context else None

    def run():
        return probe.measure(seconds) if probe else bench.drive("latency", server, rate=RATE, seconds=seconds)

    run()
    before = server.resident
    connections = figures.metric("hearth_transport_open_connections")
    for _ in range(rounds):
        alone = run()
        with figures, abuse(kind, server, left):
            beside = run()
        for share in ("p50", "p99"):
            bench.note(f"isolation {kind} {share}", "alone", alone[f"{share}_us"])
            bench.note(f"isolation {kind} {share}", "beside", beside[f"{share}_us"])
        while figures.metric("hearth_transport_open_connections") > connections and left():
            time.sleep(0.05)
    for path in WRITTEN:
        ask(server, "DELETE", path, context=context)
    # Memory is given back a little later, on another thread.
    end = time.monotonic() + 10
    while server.resident > before + MEMORY_GOAL * 1e6 and time.monotonic() < end:
        time.sleep(0.1)
    tick = figures.metric("hearth_loop_longest_turn_seconds")
    for figure, value in (
        ("tick", tick * 1e3), ("before", before / 1e6), ("worst", max(figures.worst, before) / 1e6),
        ("kept", (server.resident - before) / 1e6),
    ):
        bench.note(f"isolation {kind} {figure}", "hearth", value)


def report(bench):
    print(
        f"\nAn honest client beside abusive ones: {RATE} puts a second to a listener, in µs, p50 / p99; goals: p99 at most"
        f" {GOAL} times that alone, no tick beyond {TICK_GOAL} ms, at most {MEMORY_GOAL} MB of memory kept\n"
    )
    print("| beside | alone | beside | p50 | p99 | longest tick | memory before, at the worst, kept | met |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for kind, text in KINDS.items():
        name = f"isolation {kind}"
        ratio = bench.ratio(f"{name} p99", "beside", "alone")
        if ratio is None:
            continue
        pairs = [
            " / ".join(f"{bench.median(f'{name} {share}', subject):,.0f}" for share in ("p50", "p99"))
            for subject in ("alone", "beside")
        ]
        half = bench.ratio(f"{name} p50", "beside", "alone")
        tick, before, worst, kept = [
            bench.median(f"{name} {figure}", "hearth") for figure in ("tick", "before", "worst", "kept")
        ]
        missed = [
            what for what, is_missed in (
                ("p99", ratio > GOAL), ("tick", tick > TICK_GOAL), ("memory", kept > MEMORY_GOAL)
            ) if is_missed
        ]
        print(
            f"| {text} | {pairs[0]} | {pairs[1]} | {half:.2f}x | {ratio:.2f}x | {tick:,.1f} ms |"
            f" {before:,.0f}, {worst:,.0f}, {kept:+,.0f} MB | {'no: ' + ', '.join(missed) if missed else 'yes'} |"
        )
