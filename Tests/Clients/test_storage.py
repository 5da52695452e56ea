"""Durability: orderly ends, checkpoints, folders that cannot be used, a disk that fills up."""

import contextlib
import os
import subprocess
import threading
from pathlib import Path

import pytest
from websockets.exceptions import WebSocketException

import vocabulary
from hearth_server import BINARY, Hearth
from wire_client import Wire


def serve(*flags):
    """Runs a server that is expected to end by itself."""
    return subprocess.run(
        [BINARY, "serve", "--dev", "--port", "0", *map(str, flags)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "HEARTH_CONFIG": ""},
    )


class Load(threading.Thread):
    """Writes n to the places below /k<name>, in windows of 16, and counts the acknowledged ones."""

    def __init__(self, port, name, chance):
        super().__init__()
        self.port, self.name = port, name
        self.places = vocabulary.Places(chance)
        self.acknowledged = 0
        self.enough = threading.Event()

    def run(self):
        try:
            with Wire(self.port) as client:
                while True:
                    first = self.acknowledged
                    sent = [
                        client.send("p", p=f"/k{self.name}/{self.places[n]}", d=n)
                        for n in range(first, first + 16)
                    ]
                    for number in sent:
                        body, _ = client.reply(number)
                        if body["s"] != "ok":
                            return
                        self.acknowledged += 1
                    if self.acknowledged >= 64:
                        self.enough.set()
        except (WebSocketException, OSError, EOFError, TimeoutError):
            pass
        finally:
            self.enough.set()


    def check(self, server):
        """All that was acknowledged is there."""
        stored = self.places.numbers(server.get(f"/k{self.name}.json?ns=demo").json)
        assert set(stored) >= set(range(self.acknowledged)), self.places.order


def test_sigterm_under_load_loses_nothing_acknowledged(tmp_path):
    with Hearth(data=tmp_path / "data", log=tmp_path / "log") as server:
        chance = vocabulary.drawn()
        loads = [Load(server.port, name, chance) for name in range(4)]
        for load in loads:
            load.start()
        for load in loads:
            assert load.enough.wait(120)
        with Wire(server.port) as presence:
            presence.request("o", p="/gone", d=True)
            assert server.stop() == 0
        for load in loads:
            load.join(120)
        server.start()
        for load in loads:
            assert load.acknowledged >= 64
            load.check(server)
        assert server.get("/gone.json?ns=demo").json is True


def test_a_kill_during_a_checkpoint_loses_nothing(tmp_path):
    checkpoints = tmp_path / "data" / "checkpoints"
    with Hearth(data=tmp_path / "data", log=tmp_path / "log") as server:
        # A checkpoint is due after 32 MiB of commits, and looked for once a second.
        for number in range(5):
            assert server.put(f"/big/{number}.json?ns=demo&print=silent", "x" * 9_000_000).status == 204
        load = Load(server.port, "w", vocabulary.drawn())
        load.start()
        assert load.enough.wait(120)
        pause = threading.Event()
        for _ in range(24_000):
            if checkpoints.exists() and any(checkpoints.iterdir()):
                break
            pause.wait(0.005)
        assert any(checkpoints.iterdir()), "no checkpoint was begun"
        server.kill()
        load.join(120)
        server.start()
        assert set(server.get("/big.json?ns=demo&shallow=true").json) == set("01234")
        load.check(server)


def test_a_second_server_on_a_folder_says_who_holds_it(tmp_path):
    with Hearth(data=tmp_path / "data") as server:
        second = serve("--data-dir", tmp_path / "data")
        assert second.returncode == 1 and second.stdout == ""
        assert f"is in use by process {server.process.pid}; stop it first" in second.stderr
        assert server.put("/a.json", 1).status == 200


def test_a_port_in_use_is_said_to_be(tmp_path):
    with Hearth() as server:
        second = serve("--memory", "--port", server.port)
        assert second.returncode == 1 and second.stdout == ""
        assert f"cannot listen on 127.0.0.1 port {server.port}: Address already in use" in second.stderr


def test_a_data_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    result = serve("--data-dir", tmp_path / "file")
    assert result.returncode == 1
    assert "Not a directory" in result.stderr
    assert (tmp_path / "file").read_text() == "mine"


@contextlib.contextmanager
def disk(folder, size):
    """A file system with little room; skipped where none can be mounted."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def small_disk(tmp_path):
    with disk(tmp_path / "disk", "600m") as folder:
        yield folder


def fill(folder):
    """Takes the whole room of a disk; returns the file that has it."""
    ballast = folder / "ballast"
    status = os.statvfs(folder)
    with open(ballast, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, status.f_bavail * status.f_bsize)
    return ballast


def test_a_full_disk_refuses_writes_and_service_resumes_by_itself(small_disk, tmp_path):
    ballast = small_disk / "ballast"
    with Hearth(data=small_disk / "data", log=tmp_path / "log") as server:
        with Wire(server.port) as client:
            assert client.request("o", p="/gone", d=1)[0]["s"] == "ok"
            assert client.request("p", p="/a", d=1)[0]["s"] == "ok"
            status = os.statvfs(small_disk)
            with open(ballast, "wb") as file:
                os.posix_fallocate(file.fileno(), 0, status.f_bavail * status.f_bsize - (1 << 20))
            server.await_log("writes are refused until")
            for action, body in [
                ("p", {"p": "/a", "d": 2}),
                ("m", {"p": "/", "d": {"a": 2}}),
                ("o", {"p": "/b", "d": 2}),
                ("oc", {"p": "/gone", "d": None}),
            ]:
                reply, _ = client.request(action, **body)
                assert reply["s"] == "unavailable" and "disk" in reply["d"], (action, reply)
            assert server.put("/a.json?ns=demo", 2).status == 503
            rules = b'{"rules":{".read":true}}'
            assert server.request("PUT", "/.settings/rules.json?ns=demo", raw=rules).status == 503
            assert client.request("g", p="/a", q={})[0]["d"] == 1
            assert client.request("q", p="/a", h="")[0]["s"] == "ok"
            ballast.unlink()
            server.await_log("writes are taken again")
            body, pushes = client.request("p", p="/a", d=3)
            assert body["s"] == "ok" and pushes[0]["b"]["d"] == 3
        server.kill()
        server.start()
        assert server.get("/a.json?ns=demo").json == 3


@pytest.fixture
def tiny_disk(tmp_path):
    with disk(tmp_path / "disk", "20m") as folder:
        yield folder


def leave(server, names, size):
    """Clients that each store a text to be written when they are gone, and go."""
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Wire(server.port)) for _ in names]
        for name, client in zip(names, clients, strict=True):
            assert client.request("o", p=f"/gone/{name}", d=size * "x")[0]["s"] == "ok"
        yield


def test_clients_that_leave_on_a_full_disk_do_not_end_the_server_and_what_they_stored_comes_with_room(tiny_disk, tmp_path):
    names = [f"k{number:02}" for number in range(40)]
    with Hearth(data=tiny_disk / "data", log=tmp_path / "log") as server:
        # Together they come to more than is left of the log's segments.
        clients = leave(server, names, 60_000)
        next(clients)
        ballast = fill(tiny_disk)
        server.await_log("writes are refused until")
        next(clients, None)
        with Wire(server.port) as other:
            assert other.request("p", p="/a", d=1)[0]["s"] == "unavailable"
            assert other.request("g", p="/a", q={})[0]["s"] == "ok"
        server.kill()
        server.start()
        server.await_log("writes are refused until")
        ballast.unlink()
        server.await_log("writes are taken again")
        assert set(server.get("/gone.json?ns=demo&shallow=true").json) == set(names)
        assert server.put("/a.json?ns=demo", 1).status == 200


@pytest.fixture
def small_checkpoints(tmp_path):
    """A data folder whose checkpoints lie on a file system of 4 MiB."""
    with disk(tmp_path / "data" / "checkpoints", "4m") as folder:
        yield folder


def test_a_checkpoint_that_fails_is_reported_costs_no_log_and_is_tried_again(small_checkpoints, tmp_path):
    with Hearth(data=tmp_path / "data", log=tmp_path / "log") as server:
        for number in range(4):
            put = server.put(f"/big/{number}.json?ns=demo&print=silent", "x" * 9_000_000)
            assert put.status == 204
        server.await_log("a checkpoint failed and does not count")
        server.await_log("No space left on device")
        assert "warning" in server.get("/.health/ready").text
        assert "\nhearth_checkpoint_failures_total 1\n" in server.get("/.metrics").text
        assert list(small_checkpoints.iterdir()) == []
        remount = ["mount", "-o", "remount,size=200m", str(small_checkpoints)]
        subprocess.run(remount, check=True)
        server.await_log("checkpoint written", timeout=120)
        assert server.get("/.health/ready").text == "ready\n"
        assert "\nhearth_checkpoints_total 1\n" in server.get("/.metrics").text
        server.kill()
        server.start()
        assert set(server.get("/big.json?ns=demo&shallow=true").json) == set("0123")


def test_a_folder_without_permission_is_refused(tmp_path):
    # Root may write everywhere, so the folder stands where no user may make one.
    result = serve("--data-dir", Path("/proc/hearth-data"))
    assert result.returncode == 1
    assert "/proc/hearth-data" in result.stderr
