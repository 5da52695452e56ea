"""kill -9 under write load: nothing that was acknowledged is lost."""

import threading

import pytest
from websockets.exceptions import WebSocketException

import vocabulary
from hearth_server import Hearth
from wire_client import Wire

ROUNDS = 25
WRITERS = 4


class Writer(threading.Thread):
    """Writes n to the places below /w<name>, n rising without a gap, and remembers the last acknowledged one."""

    def __init__(self, port, name, places, first):
        super().__init__()
        self.port = port
        self.key = f"w{name}"
        self.places = places
        self.next = first
        self.acknowledged = first - 1
        self.begun = threading.Event()

    def run(self):
        try:
            with Wire(self.port) as client:
                while True:
                    # Counted before they are sent: the kill may fall between two of them.
                    start, self.next = self.next, self.next + 8
                    window = [
                        client.send("p", p=f"/{self.key}/{self.places[n]}", d=n)
                        for n in range(start, self.next)
                    ]
                    for number in window:
                        body, _ = client.reply(number)
                        assert body["s"] == "ok", body
                        self.acknowledged += 1
                        self.begun.set()
        except (WebSocketException, OSError, EOFError, TimeoutError):
            self.begun.set()


def test_acknowledged_writes_survive_25_kills(tmp_path):
    chance = vocabulary.drawn()
    places = [vocabulary.Places(chance) for _ in range(WRITERS)]
    first = [0] * WRITERS
    with Hearth(data=tmp_path / "data", log=tmp_path / "log") as server:
        for _ in range(ROUNDS):
            writers = [Writer(server.port, i, places[i], first[i]) for i in range(WRITERS)]
            for writer in writers:
                writer.start()
            for writer in writers:
                assert writer.begun.wait(30)
            # Real time is the point here: the kill falls anywhere in the work.
            threading.Event().wait(chance.uniform(0, 0.15))
            server.kill()
            for writer in writers:
                writer.join(30)
            server.start()
            for index, writer in enumerate(writers):
                numbers = places[index].numbers(server.get(f"/{writer.key}.json?ns=demo").json)
                # A prefix of what this writer sent, in order, with every acknowledged write in it.
                assert numbers == list(range(len(numbers))), (places[index].order, numbers[-10:])
                assert len(numbers) > writer.acknowledged, (places[index].order, len(numbers))
                assert len(numbers) <= writer.next, (places[index].order, len(numbers))
                first[index] = len(numbers)


def test_presence_goes_offline_when_client_and_server_die_together(tmp_path):
    with Hearth(data=tmp_path / "data") as server:
        client = Wire(server.port)
        assert client.request("o", p="/status/ann", d="offline")[0]["s"] == "ok"
        assert client.request("p", p="/status/ann", d="online")[0]["s"] == "ok"
        server.kill()
        server.start()
        assert server.get("/status/ann.json?ns=demo").json == "offline"
        client.close()


def test_a_torn_tail_is_cut_and_damage_elsewhere_refuses_to_start(tmp_path):
    data = tmp_path / "data"
    with Hearth(data=data) as server:
        for n in range(50):
            server.put(f"/k{n}.json?ns=demo", "x" * 100)
        server.kill()
    segment = sorted((data / "log").glob("*.log"))[0]
    content = bytearray(segment.read_bytes())
    place = content.find(b"x" * 100)
    assert place > 0
    content[place + 5] ^= 0x40
    segment.write_bytes(content)
    with pytest.raises(AssertionError):
        Hearth(data=data, log=tmp_path / "log")
    log = (tmp_path / "log").read_text()
    assert segment.name in log and "hearth log salvage" in log


def test_on_disconnect_writes_come_out_of_a_crash_as_they_went_in(tmp_path):
    """Priorities and server values included, also where a write was edited or split by later ones."""
    increment = {".sv": {"increment": 2}}
    requests = [
        ("o", {"p": "/a", "d": {"b": {"n": increment, ".priority": 1}, "c": 1, ".priority": 2}}),
        ("o", {"p": "/a/d", "d": {"n": {".sv": {"increment": 3}}, ".priority": "x"}}),
        ("oc", {"p": "/a/c", "d": None}),
        ("om", {"p": "/", "d": {"e/.priority": 4, "f": {".value": increment, ".priority": 5}}}),
        ("o", {"p": "/g", "d": {"n": increment, ".priority": 6}}),
        ("o", {"p": "/g/.priority", "d": 7}),
    ]
    before = {"a": {"b": {"n": 1}, "c": 2}, "e": 1, "f": 1}
    with Hearth(data=tmp_path / "data") as server:
        for name in ("left", "killed"):
            server.put(f"/.json?ns={name}", before)
            client = Wire(server.port, ns=name)
            for action, body in requests:
                assert client.request(action, **body)[0]["s"] == "ok"
            if name == "left":
                client.close()
        server.kill()
        server.start()
        left = server.get("/.json?ns=left&format=export").json
        assert left == server.get("/.json?ns=killed&format=export").json
        assert left["a"]["b"] == {"n": 3, ".priority": 1} and left["a"]["c"] == 2
        assert left["a"]["d"] == {"n": 3, ".priority": "x"} and left["e"][".priority"] == 4
        assert left["f"] == {".value": 3, ".priority": 5}
        assert left["g"] == {"n": 2, ".priority": 7}
