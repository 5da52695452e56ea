"""Brokers of NATS for tests: processes of their own on 127.0.0.1, at ports that were free, on one folder.

As a program it prints its facts as a line of JSON, obeys lines on its input, each with an answer, and ends with its input at the
latest:

    signal 0 KILL      sends a signal to a broker; waits for its end after KILL and TERM
    start 0            starts it again on the same folder, at the same ports; does not wait until it is ready
    ready              waits until all that run are ready
    leader LOG_main    the number of the broker that leads a stream; waits until one does
    end                ends all

Brokers end with the process that started them.
"""

import ctypes
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

BINARY = Path(os.environ.get("HEARTH_NATS_SERVER") or Path(__file__).resolve().parents[2] / ".venv/bin/nats-server")

# An election takes up to 15 s on a quiet machine.
PATIENCE = 120


# Below those that the system gives to connections and to servers that take any port: a process that is killed finds its
# port free when it starts again.
PORTS = range(10_000, 32_000)


def free_ports(count):
    ports = []
    while len(ports) < count:
        port = random.SystemRandom().choice(PORTS)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        if port not in ports:
            ports.append(port)
    return ports


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def until(look, what, patience=PATIENCE):
    """What `look` finds, once it finds something."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        found = look()
        if found is not None:
            return found
        time.sleep(0.02)
    raise TimeoutError(what)


def request_once(port, subject, body):
    """A broker's answer to one request; None for one that says that there is no responder."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection, connection.makefile("rb") as lines:
        hello = {"verbose": False, "protocol": 1, "lang": "python", "version": "1", "headers": True, "no_responders": True}
        connection.sendall(f"CONNECT {json.dumps(hello)}\r\nSUB answers 1\r\nPUB {subject} answers {len(body)}\r\n".encode() + body + b"\r\n")
        for line in lines:
            if line.startswith(b"MSG"):
                return json.loads(lines.read(int(line.split()[-1])))
            if line.startswith(b"HMSG"):
                return None
    raise ConnectionError(subject)


class Brokers:
    """So many brokers, as one cluster if they are several.

    `jetstream` is what stands in that block of the configuration beside the folder, None for brokers without it; `extra` stands
    behind everything else. `disks` are folders for what each stores.
    """

    def __init__(self, count=3, jetstream="sync_interval: always", extra="", disks=None):
        self.folder = Path(tempfile.mkdtemp(prefix="hearth-nats-"))
        self.count, self.jetstream, self.extra = count, jetstream, extra
        self.disks = disks or [self.folder / f"n{number}" for number in range(count)]
        # Another process may take a port between its choice and the start.
        for _ in range(5):
            ports = free_ports(3 * count)
            self.ports = [ports[place : place + 3] for place in range(0, 3 * count, 3)]
            for number in range(count):
                self.configuration(number).write_text(self.settings(number))
            self.processes = [None] * count
            for number in range(count):
                self.start(number)
            try:
                self.ready(patience=30)
                return
            except (ChildProcessError, TimeoutError):
                self.end()
        text = "\n".join(path.read_text() for path in self.folder.glob("*.log"))
        self.stop()
        raise RuntimeError(f"the brokers do not start: {text}")

    @property
    def addresses(self):
        return [f"nats://127.0.0.1:{client}" for client, _, _ in self.ports]

    @property
    def monitors(self):
        return [f"http://127.0.0.1:{monitor}" for _, monitor, _ in self.ports]

    def configuration(self, number):
        return self.folder / f"n{number}.conf"

    def settings(self, number):
        client, monitor, route = self.ports[number]
        lines = [f"server_name: n{number}", f"listen: 127.0.0.1:{client}", f"http: 127.0.0.1:{monitor}", "write_deadline: 10s"]
        if self.jetstream is not None:
            lines += ["jetstream {", f'store_dir: "{self.disks[number]}"', self.jetstream, "}"]
        if self.count > 1:
            routes = ", ".join(f"nats://127.0.0.1:{route}" for _, _, route in self.ports)
            # A name of its own: brokers of another test that have got one of these ports are no part of it.
            lines.append(f"cluster {{ name: {self.folder.name}, listen: 127.0.0.1:{route}, routes: [{routes}] }}")
        return "\n".join([*lines, self.extra, ""])

    def start(self, number):
        with (self.folder / f"n{number}.log").open("a") as log:
            self.processes[number] = subprocess.Popen(
                [BINARY, "-c", self.configuration(number)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent,
            )

    def signal(self, number, name="KILL"):
        process = self.processes[number]
        process.send_signal(getattr(signal, f"SIG{name}"))
        if name in ("KILL", "TERM"):
            process.wait()
            self.processes[number] = None

    def running(self):
        return [number for number, process in enumerate(self.processes) if process]

    def ready(self, patience=PATIENCE):
        """Waits until each broker that runs is ready."""

        def is_ready(number):
            if self.processes[number].poll() is not None:
                raise ChildProcessError(f"broker {number} has ended")
            return True if self.ask(number, "/healthz") else None

        for number in self.running():
            until(lambda: is_ready(number), f"broker {number} is not ready", patience)

    def ask(self, number, path):
        """What a monitoring port answers; None for no answer, or one that is not a success."""
        try:
            with urllib.request.urlopen(f"{self.monitors[number]}{path}", timeout=10) as answer:
                return json.load(answer)
        except OSError:
            return None

    def request(self, number, subject, body=b""):
        """A broker's answer to one request; asks again while the broker knows of no responder."""
        return until(lambda: request_once(self.ports[number][0], subject, body), f"no answer to {subject}")

    def purge(self, stream, through):
        """Forgets the entries of a stream up to a sequence number; returns how many were forgotten."""
        answer = self.request(0, f"$JS.API.STREAM.PURGE.{stream}", json.dumps({"seq": through + 1}).encode())
        return answer["purged"]

    def leader(self, stream):
        """The number of the broker that leads a stream, as it says itself."""

        def look():
            for number in self.running():
                answer = self.ask(number, "/jsz?streams=1") or {}
                for account in answer.get("account_details", []):
                    for one in account.get("stream_detail") or []:
                        cluster = one.get("cluster") or {"leader": f"n{number}"}
                        if one["name"] == stream and cluster.get("leader") == f"n{number}":
                            return number
            return None

        return until(look, f"no broker leads {stream}")

    def end(self):
        for number in self.running():
            self.signal(number)

    def stop(self):
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def obey(brokers, words):
    match words:
        case ["signal", number, name]:
            return brokers.signal(int(number), name)
        case ["start", number]:
            return brokers.start(int(number))
        case ["ready"]:
            return brokers.ready()
        case ["leader", stream]:
            return brokers.leader(stream)
        case ["end"]:
            return brokers.stop()
    raise ValueError(f"no such command: {words}")


def main():
    brokers = Brokers(**json.loads(sys.argv[1]) if len(sys.argv) > 1 else {})
    try:
        print(json.dumps({"addresses": brokers.addresses, "monitors": brokers.monitors}), flush=True)
        for line in sys.stdin:
            print(json.dumps(obey(brokers, line.split())), flush=True)
    finally:
        brokers.stop()


if __name__ == "__main__":
    main()
