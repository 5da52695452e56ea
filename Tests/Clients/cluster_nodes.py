"""Nodes of one group, each a real `hearth` with a data folder of its own, over real brokers."""

import http.client
import json
import secrets
import time
from urllib.parse import urlsplit

from hearth_server import Hearth
from nats_brokers import free_ports

# A broker that leads and dies stops writes until the others have elected: some 9 s, on a busy machine more.
PATIENCE = 120


class Cluster:
    """`count` nodes over `brokers`; nodes are numbered from 0. `dev` False makes them production servers. `address` is
    where a node says that it is, but for the port."""

    def __init__(self, brokers, folder, count=3, flags=(), dev=True, address="127.0.0.1"):
        self.brokers, self.folder, self.flags, self.dev, self.address = brokers, folder, flags, dev, address
        self.ports = free_ports(count)
        folder.mkdir(exist_ok=True)
        self.secret = folder / "secret"
        self.secret.touch(mode=0o600)
        self.secret.write_text(secrets.token_hex(32))
        self.nodes = [None] * count
        for number in range(count):
            self.start(number)

    def settings(self, number):
        """What makes a server this node."""
        monitors = ["--cluster-monitors", ",".join(self.brokers.monitors)] if self.brokers.monitors else []
        return (
            "--port", str(self.ports[number]), "--cluster-node", f"n{number}", "--cluster-secret-file", str(self.secret),
            "--cluster-brokers", ",".join(self.brokers.addresses), *monitors,
            "--cluster-advertise", f"{self.address}:{self.ports[number]}", *self.flags,
        )

    def data(self, number):
        return self.folder / f"n{number}"

    def start(self, number):
        """Starts a node, or starts it again on its folder."""
        self.nodes[number] = Hearth(
            *self.settings(number), dev=self.dev, data=self.data(number), log=self.folder / f"n{number}.log"
        )

    def running(self):
        return [number for number, node in enumerate(self.nodes) if node and node.process.poll() is None]

    def restart_ended(self):
        """Does what a service manager does: a node that ended starts again."""
        for number, node in enumerate(self.nodes):
            if node is None or node.process.poll() is not None:
                if node:
                    node.process.stdout.close()
                self.start(number)

    def owner(self):
        """The number of the node that owns the group; waits until one does."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for number in self.running():
                try:
                    if self.nodes[number].get("/.health/ready").text.startswith("ready"):
                        return number
                except OSError:
                    pass
            time.sleep(0.02)
        raise TimeoutError("no node owns the group:\n" + "\n".join(node.log_text[-2000:] for node in self.nodes if node))

    def status(self, number):
        credential = "owner" if self.dev else (self.data(number) / "admin-secret").read_text().strip()
        return self.nodes[number].get("/.inspect/cluster.json", headers={"Authorization": f"Bearer {credential}"}).json

    def until_all(self, holds, what):
        """Waits until something holds for the status of every node that runs."""
        deadline = time.monotonic() + PATIENCE
        while not all(holds(self.status(number)) for number in self.running()):
            assert time.monotonic() < deadline, (what, [self.status(number) for number in self.running()])
            time.sleep(0.02)

    def ask(self, method, path, body=None, start=0, timeout=20):
        """One request, sent where nodes send it. The JSON of the answer, None when there was no answer or a refusal."""
        address = f"http://127.0.0.1:{self.ports[start]}{path}"
        for _ in range(4):
            parts = urlsplit(address)
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
            try:
                target = parts.path + (f"?{parts.query}" if parts.query else "")
                connection.request(method, target, None if body is None else json.dumps(body))
                answer = connection.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException):
                return None
            finally:
                connection.close()
            if answer.status == 307:
                address = answer.headers["Location"]
                continue
            return json.loads(text) if answer.status == 200 else None
        return None

    def stop(self):
        for node in self.nodes:
            if node:
                node.__exit__()
