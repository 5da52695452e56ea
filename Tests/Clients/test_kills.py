"""kill -9 under writes with keys in every order, also while a checkpoint is written: nothing acknowledged is lost.

HEARTH_KILLS sets how many kills there are (6 in the gate), SEED repeats a run.
"""

import os
import random
import socket
import struct
import threading

from websockets.exceptions import WebSocketException

import vocabulary
from hearth_server import Hearth
from signing import unsigned
from storage_twin import List, compare
from wire_client import Wire

KILLS = int(os.environ.get("HEARTH_KILLS", 6))
WRITERS = 3
# A checkpoint is due after 32 MiB of commits.
FILLING = "x" * 9_000_000


def fill(server, round, numbers):
    """Writes some megabytes; all four of them, and a checkpoint is due."""
    for number in numbers:
        answer = server.put(f"/filling/{number}.json?ns=demo&print=silent", f"{round}{FILLING}")
        assert answer.status == 204, answer.text


def await_checkpoint(data, before, isWhole):
    """Waits until one is being written, or is whole."""
    pause = threading.Event()
    for _ in range(6_000):
        if any(name not in before and (name.isdecimal() or not isWhole) for name in names(data)):
            return
        pause.wait(0.005)
    raise AssertionError(f"no checkpoint was {'made' if isWhole else 'begun'}: {names(data)}")


def names(data):
    folder = data / "checkpoints"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def put_bulk(server, chance):
    """Puts some hundred members in one text, server values among them; returns what must be there."""
    order = chance.choice(vocabulary.ORDERS)
    sent, kept = {}, {}
    for index, key in enumerate(vocabulary.keys(order, chance.choice([40, 700, 4_000]), chance)):
        isCounted = index % 3 == 0
        kept[key] = 2 if isCounted else vocabulary.text(chance)
        sent[key] = {".sv": {"increment": 2}} if isCounted else kept[key]
    # What was there would count.
    assert server.request("DELETE", "/bulk.json?ns=demo").status == 200
    answer = server.put("/bulk.json?ns=demo&print=silent", sent)
    assert answer.status == 204, answer.text
    return kept


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
            with socket.create_connection(("127.0.0.1", self.port), 10) as raw:
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


def test_trees_of_every_shape_survive_kills(tmp_path):
    chance = vocabulary.drawn()
    data = tmp_path / "data"
    lists = [List(f"w{index}", chance.random()) for index in range(WRITERS)]
    promised = {}
    writes = checkpoints = 0
    refused = set()
    rules = b'{"rules": {".read": true, ".write": true, "refused": {".validate": false}}}'
    with Hearth(data=data, log=tmp_path / "log") as server:
        assert server.request("PUT", "/.settings/rules.json?ns=demo", raw=rules).status == 200
        for round in range(1, KILLS + 1):
            before = names(data)
            bulk = put_bulk(server, chance)
            client = promise(server, round)
            if round % 3 != 0:
                fill(server, round, range(3))
            lists = [one.again(server.port) for one in lists]
            hostile = Hostile(server.port, chance.random())
            for one in [*lists, hostile]:
                one.start()
            for one in [*lists, hostile]:
                assert one.begun.wait(60)
            if round % 3 != 0:
                fill(server, round, [3])
                await_checkpoint(data, before, isWhole=round % 3 == 1)
                checkpoints += 1
            # Real time is the point here: the kill falls anywhere in the work.
            threading.Event().wait(chance.uniform(0, 0.4))
            server.kill()
            client.close()
            for one in lists:
                one.join(60)
                writes += one.count
            hostile.join(60)
            assert not hostile.is_alive() and hostile.count
            refused |= hostile.refused
            server.start()
            promised[str(round)] = {"n": round, "t": "gone", ".priority": "p" * 600}
            faults = compare(server, lists, {"bulk": bulk, "promised": promised})
            assert not faults, (round, faults, server.log_text[-2000:])
    print(f"{KILLS} kills, {checkpoints} at or after a checkpoint, {writes} acknowledged writes, 0 lost")
    assert writes > 0
    assert {"permission_denied", "datastale"} <= refused, refused
