"""A disk that is full, fails, or is interrupted: what the server then takes, says and returns."""

import resource
import subprocess

from command_line import hearth
from hearth_server import BINARY, Hearth
from shaky_disk import ShakyDisk

FAILED_LOG = 74


def test_interrupted_calls_on_any_file_are_no_reason_to_refuse(tmp_path):
    data = tmp_path / "data"
    with ShakyDisk(tmp_path, data, interrupts=True):
        for turn in range(2):
            with Hearth(data=data, log=tmp_path / "log") as server:
                assert server.put(f"/k{turn}.json?ns=demo", "x" * 1000).status == 200
                if turn == 0:
                    server.kill()
                else:
                    assert server.stop() == 0, server.log_text
        found = subprocess.run([BINARY, "log", "verify", str(data)], capture_output=True, text=True)
        assert found.returncode == 0, found.stdout + found.stderr
    with Hearth(data=data) as server:
        assert server.get("/.json?ns=demo").json == {"k0": "x" * 1000, "k1": "x" * 1000}


def test_a_failed_log_names_its_file_and_has_an_exit_code_of_its_own(tmp_path):
    data = tmp_path / "data"
    with Hearth(data=data, log=tmp_path / "log") as server:
        server.put("/a.json?ns=demo", 1)
        # Nothing may be written behind that place of a file.
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        try:
            for n in range(40):
                server.put(f"/b{n}.json?ns=demo", "x" * 100_000)
        except OSError:
            pass
        assert server.process.wait(30) == FAILED_LOG, server.log_text
        assert "the log failed, so the server stops" in server.log_text
        assert "log/00000000000000000001.log" in server.log_text
        assert "log/spare" not in server.log_text
    with Hearth(data=data) as server:
        assert server.get("/a.json?ns=demo").json == 1


def test_a_full_disk_takes_removals_and_writes_again_when_there_is_room(tmp_path):
    data = tmp_path / "data"
    with ShakyDisk(tmp_path, data) as disk:
        with Hearth(data=data, log=tmp_path / "log") as server:
            for n in range(4):
                assert server.put(f"/k{n}.json?ns=demo", {"a": 1, "b": 2}).status == 200
            disk.set_free(200)
            limits = "with less than 256 MiB free: writes are refused until 320 MiB are free"
            server.await_log(f"the disk is nearly full, {limits}, but for some that only remove data; reads go on")
            # Still ready: a probe that fails would take reads and removals away as well.
            ready = server.get("/.health/ready")
            assert ready.status == 200
            assert ready.text.startswith(f"ready\nwarning: the disk is nearly full, {limits}"), ready.text
            refused = server.put("/new.json?ns=demo", 1)
            assert refused.status == 503, refused.text
            assert "nearly full" in refused.text
            assert server.request("DELETE", "/k0.json?ns=demo").status == 200
            both = {"k1/a": None, "k2": None}
            assert server.request("PATCH", "/.json?ns=demo", both).status == 200
            mixed = {"k1/b": None, "k4": 1}
            assert server.request("PATCH", "/.json?ns=demo", mixed).status == 503
            # What was removed makes room with the next checkpoint, although little was written.
            server.await_log("checkpoint written")
            disk.set_free(100_000)
            server.await_log("writes are taken again")
            assert server.put("/new.json?ns=demo", 1).status == 200
            left = {"k1": {"b": 2}, "k3": {"a": 1, "b": 2}, "new": 1}
            assert server.get("/.json?ns=demo").json == left
            server.kill()
    with Hearth(data=data) as server:
        assert server.get("/.json?ns=demo").json == left


def test_a_small_disk_is_not_full_for_being_small(tmp_path):
    data = tmp_path / "data"
    with ShakyDisk(tmp_path, data) as disk:
        data.mkdir(mode=0o700)
        disk.set_free(168, of=190)
        checked = hearth(None, "check", "--data-dir", data)
        assert b"168 MiB are free; writes are refused below 23 MiB" in checked.stdout
        assert b"MiB are free" not in checked.stderr, checked.stderr
        with Hearth(data=data, log=tmp_path / "log") as server:
            assert server.put("/a.json?ns=demo", 1).status == 200
            assert server.get("/.health/ready").text == "ready\n"
            disk.set_free(22, of=190)
            server.await_log("with less than 23 MiB free: writes are refused until 29 MiB are free")
            assert server.put("/a.json?ns=demo", 2).status == 503
            disk.set_free(30, of=190)
            server.await_log("writes are taken again")
            assert server.put("/a.json?ns=demo", 3).status == 200
            assert server.get("/.health/ready").text == "ready\n"
        # What the log has set aside for itself is small, too, and a write that would not fit beside it is refused.
        assert max(file.stat().st_size for file in (data / "log").iterdir()) <= 12 << 20
        disk.set_free(15, of=16)
        with Hearth(data=data) as server:
            refused = server.put("/b.json?ns=demo", "x" * (3 << 20))
            assert refused.status == 400 and "maximum size" in refused.text
            assert server.put("/b.json?ns=demo", "x" * (1 << 20)).status == 200
            assert server.get("/a.json?ns=demo").json == 3
