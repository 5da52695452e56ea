"""kill -9 at any moment, also while a server starts, writes a checkpoint, takes an import or gives a backup, with a disk
that fills up and with descriptors that run out; ledgers of the clients say what must be there afterwards.

A short run in the gate; `make soak-kill ROUNDS=1000` is a long one. HEARTH_SEED repeats what is drawn, but no moment.
"""

import contextlib
import http.client
import json
import os
import random
import resource
import shutil
import socket
import struct
import subprocess
import threading
import time
import warnings
from collections import Counter

import pytest
from websockets.exceptions import WebSocketException

import vocabulary
from command_line import start
from hearth_server import BINARY, Hearth
from signing import unsigned
from storage_twin import Client, as_map, compare, differences, export, parts
from test_backup import run
from wire_client import Wire

CLIENTS = 4
# A checkpoint is due after 32 MiB of commits.
FILLING = "x" * 3_000_000
RULES = b'{"rules": {".read": true, ".write": true, "refused": {".validate": false}}}'
SECONDS_BETWEEN_LINES = 30
ROUNDS_OF_A_FOLDER = 50


class Hostile(threading.Thread):
    """Sends what is refused and what is no protocol, all the while: nothing of it may be there afterwards."""

    def __init__(self, port, seed):
        super().__init__(daemon=True)
        self.port, self.chance = port, random.Random(seed)
        self.begun, self.refused, self.count = threading.Event(), set(), 0

    def run(self):
        # Others have their turns, too.
        pause = threading.Event()
        while True:
            try:
                self.ask()
                self.garble()
                pause.wait(0.02)
            except (WebSocketException, TimeoutError, EOFError):
                pass
            except OSError:
                return
            finally:
                self.begun.set()

    def ask(self):
        deep = "/deep" * 40
        with Wire(self.port) as client:
            for body in [
                {"p": "/refused/a", "d": vocabulary.value(self.chance)},
                {"p": "/w0", "d": "another", "h": "wrong"},
                {"p": "/w1/a.b", "d": 1},
                {"p": deep, "d": 1},
                {"p": "/w1", "d": {"": 1}},
            ]:
                reply, _ = client.request("p", **body)
                assert reply["s"] != "ok", body
                self.refused.add(reply["s"])
                self.count += 1

    def garble(self):
        """Bytes that are no frames, or only the start of one, behind a handshake that is good."""
        noise = self.chance.randbytes(self.chance.randrange(1, 3_000))
        lines = (
            "GET /.ws?v=5&ns=demo HTTP/1.1", "Host: localhost", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", "",
        )
        begin = struct.pack("!BBQ", 0x81, 0xFF, 1 << 20) + b"mask" + b'{"t":"d","d":{"r":1,"a":"p","b":{"p":"/w0"'
        for data in [noise, "\r\n".join(lines).encode() + self.chance.choice([noise, begin + noise])]:
            with socket.create_connection(("127.0.0.1", self.port), 120) as raw:
                raw.sendall(data)
                self.count += 1


def promise(server, number):
    """Signs in with claims that no tree could hold and asks for a write at the disconnect, whose promise the kill is."""
    claims = {
        "sub": f"ann{number}", "https://example.com/role": "admin", "": {"a.b": [1, {"#$[]": None}]},
        "firebase": {"identities": {"google.com": ["1"]}, "sign_in_provider": "google.com"},
    }
    client = Wire(server.port)
    assert client.request("auth", cred=unsigned(claims))[0]["s"] == "ok"
    draft = {"n": {".sv": {"increment": number}}, "t": "gone", ".priority": "p" * 600}
    assert client.request("o", p=f"/promised/{number}", d=draft)[0]["s"] == "ok"
    return client


def until(holds, what, timeout=120):
    """Waits for the state of a folder or a process."""
    deadline = time.monotonic() + timeout
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.0005)


def names(folder):
    return os.listdir(folder) if folder.exists() else []


class World:
    """A data folder through many lives of a server, its clients, and what must be there beside their parts."""

    def __init__(self, folder, data, chance, states):
        self.folder, self.data, self.log = folder, data, folder / "log"
        self.chance, self.states = chance, states
        self.clients = [Client(f"w{n}", random.Random(chance.random())) for n in range(CLIENTS)]
        self.others, self.checks, self.number = {}, [], 0
        folder.mkdir()
        self.server = Hearth(data=data, log=self.log)
        assert self.server.request("PUT", "/.settings/rules.json?ns=demo", raw=RULES).status == 200

    def round(self, number, kind):
        self.number = number
        getattr(self, f"end_{kind}")()
        self.start()
        for one in self.clients:
            self.states["acknowledged write"] += one.count
            self.states["stale transaction"] += one.stale
            one.count = one.stale = 0

    def end(self):
        """Ends the server and removes the folder."""
        assert self.server.stop() == 0, self.server.log_text[-2000:]
        self.server.__exit__()
        shutil.rmtree(self.folder)

    def begin(self):
        for one in self.clients:
            one.begin(self.server.port)
        for one in self.clients:
            assert one.begun.wait(120)

    def pause(self, longest):
        # Real time is the point here: the kill falls anywhere in the work.
        threading.Event().wait(self.chance.uniform(0, longest))

    def kill(self, kind):
        self.server.kill()
        self.states["kill"] += 1
        for one in self.clients:
            one.join()
        self.note(kind)

    def note(self, kind):
        """What is there after an end, to understand a failure by."""
        files = {str(path.relative_to(self.data)): path.stat().st_size for path in self.data.rglob("*") if path.is_file()}
        sent = {one.name: [one.ledger.acknowledged, len(one.ledger.writes)] for one in self.clients}
        with open(self.folder / "journal", "a") as journal:
            print(json.dumps({"round": self.number, "kind": kind, "sent": sent, "files": files}), file=journal)

    def start(self):
        """Starts the server anew and compares."""
        self.server.log_seen = len(self.server.log_text)
        self.server.start()
        said = self.server.log_text[self.server.log_seen :]
        for check in self.checks:
            check()
        self.checks = []
        faults = compare(self.server, self.clients, self.others)
        assert not faults, (faults, said[-2000:])
        self.states["torn end at a start"] += "the last batch is broken" in said
        self.states["unfinished checkpoint removed"] += "removed unfinished" in said
        self.states["unanswered write kept"] += any(one.ledger.kept for one in self.clients)
        self.states["unanswered write lost"] += any(one.ledger.lost for one in self.clients)

    def verify(self, folder):
        done = run("log", "verify", folder)
        assert done.returncode == 0, done.stdout + done.stderr

    def fill(self, client):
        """Writes so much that a checkpoint is due, unless the server ends before."""
        value, isDone = f"{self.number}{FILLING}", False
        with contextlib.suppress(http.client.HTTPException, ConnectionError):
            for _ in range(12):
                client.request("PUT", "/filling.json?ns=demo&print=silent", json.dumps(value))
                answer = client.getresponse()
                assert answer.status == 204, answer.read()
                answer.read()
                isDone = True
        self.checks.append(lambda: self.check_text("filling", value, isDone))

    def rest(self):
        return contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120))

    # What happens in a round until the server starts again

    def end_writes(self):
        client = promise(self.server, self.number)
        self.begin()
        self.pause(0.15)
        self.kill("writes")
        client.close()
        kept = {"n": self.number, "t": "gone", ".priority": "p" * 600}
        self.others.setdefault("promised", {})[str(self.number)] = kept

    def end_hostile(self):
        hostile = Hostile(self.server.port, self.chance.random())
        hostile.start()
        assert hostile.begun.wait(120)
        self.begin()
        self.pause(0.15)
        self.kill("hostile")
        hostile.join(120)
        assert not hostile.is_alive() and hostile.count
        assert {"permission_denied", "datastale"} <= hostile.refused, hostile.refused

    def end_stop(self):
        self.begin()
        self.pause(0.15)
        for one in self.clients:
            one.stopped.set()
        for one in self.clients:
            one.join()
        assert self.server.stop() == 0, self.server.log_text[-2000:]
        self.states["orderly stop"] += 1
        self.verify(self.data)
        self.note("stop")

    def end_checkpoint(self):
        folder = self.data / "checkpoints"
        before = names(folder)
        self.begin()
        with self.rest() as client:
            self.fill(client)
        until(lambda: set(names(folder)) - set(before), "a checkpoint")
        self.pause(0.03)
        self.kill("checkpoint")
        self.states["kill at a checkpoint"] += any(not name.isdecimal() for name in names(folder))

    def end_start(self):
        """Kills the server before it listens, several times in a row."""
        self.begin()
        self.pause(0.05)
        self.kill("writes")
        for _ in range(self.chance.randrange(1, 5)):
            with open(self.log, "ab") as log, subprocess.Popen(
                [BINARY, "serve", *self.server.flags], stdout=subprocess.PIPE, stderr=log,
                env={**os.environ, "HEARTH_CONFIG": ""},
            ) as process:
                holder = f"{process.pid}\n"
                until(lambda: (self.data / "LOCK").read_text() == holder, "the lock of a start")
                self.pause(0.1)
                process.kill()
                isReady = process.stdout.read() != b""
            self.states["kill"] += 1
            self.states["kill at a start"] += not isReady
            self.note("start")

    def end_import(self):
        assert self.server.request("DELETE", "/imported.json?ns=demo").status == 200
        keys = vocabulary.keys(self.chance.choice(vocabulary.ORDERS), 2_000, self.chance)
        tree = {key: vocabulary.text(self.chance) + "x" * 1_000 for key in keys}
        file = self.folder / "import.json"
        file.write_text(json.dumps(tree))
        # How far one got that was cut.
        (self.folder / "import.json.hearth-import").unlink(missing_ok=True)
        self.begin()
        with start(self.server, "import", "/imported", file, "--instance", "demo") as importing:
            if self.chance.random() < 0.8:
                self.pause(0.3)
            else:
                importing.wait(120)
            isDone = importing.poll() is not None
            self.kill("import")
            importing.kill()
            assert not isDone or importing.wait() == 0, importing.stderr.read()
        self.states["kill at an import"] += not isDone
        self.checks.append(lambda: self.check_import(tree, isDone))

    def check_import(self, tree, isDone):
        found = as_map(export(self.server, "imported"))
        assert found.keys() <= tree.keys() and all(found[key] == tree[key] for key in found), "not what was imported"
        assert len(found) == len(tree) or not isDone, "a part of an import that was done"
        self.states["part of an import there"] += 0 < len(found) < len(tree)
        self.others["imported"] = found

    def end_record(self):
        """A record of some megabytes is being written, in pieces; it must be there whole or not at all."""
        value = f"{self.number}{FILLING}{FILLING}"
        body = json.dumps(value).encode()
        head = f"PUT /large.json?ns=demo&print=silent HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        self.begin()
        isDone = False
        with socket.create_connection(("127.0.0.1", self.server.port), 120) as raw:
            before = self.written()
            raw.sendall(head.encode() + body)
            least = before + self.chance.randrange(1 << 19, len(body))
            until(lambda: self.written() >= least, "a record that is being written")
            self.kill("record")
            with contextlib.suppress(ConnectionError):
                isDone = raw.recv(12) == b"HTTP/1.1 204"
        self.states["kill at a large record"] += not isDone
        self.checks.append(lambda: self.check_text("large", value, isDone))

    def written(self):
        """Bytes that the server has written into files."""
        with open(f"/proc/{self.server.process.pid}/io") as file:
            return int(dict(line.split(": ") for line in file)["wchar"])

    def check_text(self, name, value, isDone):
        found = export(self.server, name)
        assert found == value or not isDone and found == self.others.get(name, {}), f"{name} is another"
        if found:
            self.others[name] = found

    def end_backup(self):
        """One backup is finished and has what a moment between its begin and its end had; another is cut by the kill."""
        file, cut, restored = (self.folder / name for name in ["file", "cut", "restored"])
        self.begin()
        least = [one.ledger.acknowledged for one in self.clients]
        done = run("backup", "--url", self.server.address, file)
        assert done.returncode == 0, done.stderr
        most = [len(one.ledger.writes) for one in self.clients]
        with start(self.server, "backup", cut) as process:
            until(lambda: "cut.partial" in names(self.folder) or process.poll() is not None, "a backup")
            self.pause(0.05)
            self.kill("backup")
            process.communicate(timeout=120)
        # It may have been finished before.
        self.states["kill at a backup"] += process.returncode != 0
        assert cut.exists() == (process.returncode == 0)
        cut.unlink(missing_ok=True)
        done = run("restore", file, "--data-dir", restored)
        assert done.returncode == 0, done.stderr
        self.verify(restored)
        with Hearth(data=restored) as copy:
            found, faults = parts(copy, self.clients)
            for one, first, last in zip(self.clients, least, most):
                if one.ledger.explain(found[one.name], first, last) is None:
                    faults.append(f"{one.name} in a backup is nothing of {first} to {last}")
            faults += differences(copy, self.clients, self.others)
        assert not faults, faults
        shutil.rmtree(restored)
        self.states["backup explained"] += 1

    def end_descriptors(self):
        """Clients and a checkpoint find no descriptor; clients that have one go on, unless the log needs one, too."""
        self.begin()
        process = self.server.process.pid
        with self.rest() as client, contextlib.ExitStack() as stack:
            client.request("GET", "/.health/ready")
            client.getresponse().read()
            most, seen = len(os.listdir(f"/proc/{process}/fd")) + 2, len(self.server.log_text)
            resource.prlimit(process, resource.RLIMIT_NOFILE, (most, most))
            crowd = [stack.enter_context(socket.create_connection(("127.0.0.1", self.server.port), 120)) for _ in range(8)]
            until(lambda: len(os.listdir(f"/proc/{process}/fd")) >= most, "a table of descriptors that is full")
            # A checkpoint that has begun has its descriptors: the next one finds none.
            until(
                lambda: self.fill(client) or "Too many open files" in self.server.log_text[seen:],
                "a file that finds none",
            )
            counts = [one.count for one in self.clients]
            until(
                lambda: self.server.process.poll() is not None
                or all(one.count > count for one, count in zip(self.clients, counts)),
                "clients that go on",
            )
            # A client that found none is served once others have left.
            for one in crowd[:-1]:
                one.close()
            served = b""
            with contextlib.suppress(ConnectionError):
                crowd[-1].sendall(b"GET /.health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n")
                served = crowd[-1].recv(9)
            if "the log failed" in self.server.log_text[seen:]:
                assert self.server.process.wait(120) == 74
                self.states["no descriptor for the log"] += 1
            else:
                assert served == b"HTTP/1.1 "
                self.states["no descriptor for a checkpoint"] += 1
        self.states["no descriptor for a client"] += 1
        self.kill("descriptors")
        self.verify(self.data)

    def end_full_disk(self):
        disk = self.data.parent
        ballast = disk / "ballast"
        self.begin()
        refused = [one.refused for one in self.clients]
        status = os.statvfs(disk)
        with open(ballast, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, status.f_bavail * status.f_bsize - (1 << 20))
        until(lambda: all(one.refused > count for one, count in zip(self.clients, refused)), "refused writes")
        self.states["write refused on a full disk"] += 1
        assert self.server.get("/w0.json?ns=demo&shallow=true").status == 200
        # To the last byte.
        with open(ballast, "ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        self.pause(0.05)
        self.kill("full disk")
        self.start()
        self.states["start on a full disk"] += 1
        answer = self.server.put("/w0.json?ns=demo", 1)
        assert answer.status == 503 and "disk" in answer.text, answer.text
        ballast.unlink()
        self.server.await_log("writes are taken again")
        counts = [one.count for one in self.clients]
        self.begin()
        until(lambda: all(one.count > count for one, count in zip(self.clients, counts)), "writes that are taken")
        self.states["writes taken again"] += 1
        self.pause(0.05)
        self.kill("writes")


@pytest.fixture
def small_disk(tmp_path):
    """A file system with little room; None where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        warnings.warn("only root can mount a small disk: no round has a full one")
        yield None
        return
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


# How a round ends, in turn; those behind the first ten are there once more, since the others take longest.
KINDS = [
    "writes", "checkpoint", "start", "import", "record", "backup", "hostile", "full_disk", "stop", "descriptors",
    "writes", "checkpoint", "start", "import", "record", "backup", "hostile", "start", "stop", "record",
]
ROUNDS = int(os.environ.get("HEARTH_KILLS", 10))
# One round in so many reaches each state.
FLOORS = {
    "kill": 2, "kill at a checkpoint": 30, "unfinished checkpoint removed": 30, "kill at a start": 15,
    "kill at an import": 30, "part of an import there": 100, "kill at a large record": 30, "torn end at a start": 30,
    "kill at a backup": 30, "backup explained": 15, "orderly stop": 15, "new folder": 100,
    "unanswered write kept": 10, "unanswered write lost": 10, "stale transaction": 10,
    "no descriptor for a client": 25, "no descriptor for a checkpoint": 50,
}
FLOORS_OF_FULL_DISK = {"write refused on a full disk": 25, "start on a full disk": 25, "writes taken again": 25}


def test_nothing_acknowledged_is_lost(tmp_path, small_disk):
    chance, states, worlds = vocabulary.drawn(), Counter(), {}
    kinds = [kind for kind in KINDS if small_disk or kind != "full_disk"]
    begun = line = time.monotonic()
    try:
        for number in range(ROUNDS):
            kind = kinds[number % len(kinds)]
            isSmall = kind == "full_disk"
            if number % ROUNDS_OF_A_FOLDER == ROUNDS_OF_A_FOLDER - 1 and not isSmall:
                worlds.pop(False).end()
                states["new folder"] += 1
            if isSmall not in worlds:
                folder = tmp_path / f"world{number}"
                worlds[isSmall] = World(folder, (small_disk if isSmall else folder) / "data", chance, states)
            worlds[isSmall].round(number, kind)
            if (now := time.monotonic()) > line + SECONDS_BETWEEN_LINES:
                line, left = now, (now - begun) / (number + 1) * (ROUNDS - number - 1)
                print(
                    f"{number + 1} of {ROUNDS} rounds, {states['kill']} kills, {states['acknowledged write']} acknowledged"
                    f" writes, {left / 60:.0f} minutes left", flush=True,
                )
    except BaseException:
        world = worlds[isSmall]
        if isSmall:
            # The small disk goes with the test.
            world.server.kill()
            shutil.copytree(world.data, world.folder / "data")
        print(f"HEARTH_SEED={vocabulary.SEED}, round {number}, {kind}: data, log and journal are in {world.folder}")
        print("until then:", *sorted(states.items()))
        raise
    finally:
        for world in worlds.values():
            world.server.__exit__()
    print(f"{ROUNDS} rounds in {(time.monotonic() - begun) / 60:.1f} minutes, 0 lost:", *sorted(states.items()), sep="\n  ")
    floors = FLOORS | (FLOORS_OF_FULL_DISK if small_disk else {})
    missing = {state: states[state] for state, rounds in floors.items() if states[state] < ROUNDS // rounds}
    assert not missing, f"reached too seldom: {missing}"
