"""kill -9: what a session left to be done is done, and a torn end is no damage. Kills under load are in test_kills.py."""

import pytest

from hearth_server import Hearth
from wire_client import Wire


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
