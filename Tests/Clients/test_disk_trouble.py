"""A disk that is full, fails, or is interrupted: what the server then takes, says and returns."""

import http.client
import resource
import select
import subprocess
import time

import pytest

from command_line import hearth, start
from hearth_server import BINARY, Hearth
from shaky_disk import ShakyDisk, calls_of

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


def await_next_segment(data):
    """Waits until room for the next segment of the log is reserved, which the server does beside its first answers."""
    spare, deadline = data / "log" / "spare", time.monotonic() + 120
    while not (spare.exists() and spare.stat().st_size > 0):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_failed_log_names_its_file_and_has_an_exit_code_of_its_own(tmp_path):
    data = tmp_path / "data"
    with Hearth(data=data, log=tmp_path / "log") as server:
        server.put("/a.json?ns=demo", 1)
        await_next_segment(data)
        # Nothing may be written behind that place of a file.
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        try:
            for n in range(40):
                server.put(f"/b{n}.json?ns=demo", "x" * 100_000)
        except OSError:
            pass
        assert server.process.wait(120) == FAILED_LOG, server.log_text
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


def test_restore_and_salvage_take_no_more_room_than_a_server_there(tmp_path):
    data = tmp_path / "data"
    with ShakyDisk(tmp_path, data) as disk:
        with Hearth(data=data) as server:
            assert server.put("/a.json?ns=demo", 1).status == 200
            assert server.stop() == 0
        disk.set_free(15, of=16)
        assert hearth(None, "backup", "--data-dir", data, tmp_path / "backup").returncode == 0
        for arguments in (["restore", tmp_path / "backup", "--data-dir"], ["log", "salvage", data]):
            copy = data / f"{arguments[0]}-copy"
            done = hearth(None, *arguments, copy)
            assert done.returncode == 0, done.stderr
            with Hearth(data=copy) as server:
                assert server.get("/a.json?ns=demo").json == 1


def test_the_name_of_a_new_data_folder_is_durable_before_a_write_is(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    with ShakyDisk(tmp_path, folder, notes=True) as disk:
        with Hearth(data=folder / "data") as server:
            assert server.put("/a.json?ns=demo", 1).status == 200
    assert ("sync", ".") in [call[:2] for call in calls_of(disk.calls, folder)]


@pytest.mark.parametrize("durability", ["always", "memory"])
def test_answers_reads_and_backups_wait_for_the_sync_of_the_log(tmp_path, durability):
    data = tmp_path / "data"
    with ShakyDisk(tmp_path, data, notes=True) as disk, Hearth("--durability", durability, data=data) as server:
        await_next_segment(data)
        disk.hold("log/0")
        asked = []

        def ask(method, path, body=None):
            asked.append(http.client.HTTPConnection("127.0.0.1", server.port, timeout=120))
            asked[-1].request(method, path, body)
            if durability == "memory":
                # These wait for no sync.
                assert asked[-1].getresponse().status == 200

        ask("PUT", "/a.json?ns=demo", "1")
        if durability == "always":
            disk.await_held()
        ask("GET", "/a.json?ns=demo")
        ask("GET", "/.backup")
        if durability == "always":
            # The loop serves others meanwhile, so it could have answered.
            for _ in range(200):
                assert server.get("/.health/ready").status == 200
            assert select.select([one.sock for one in asked], [], [], 0)[0] == []
            disk.held.unlink()
            put, read, backup = (one.getresponse() for one in asked)
            assert put.status == 200 and read.read() == b"1"
            (tmp_path / "backup").write_bytes(backup.read())
            verified = hearth(None, "backup", "--verify", tmp_path / "backup")
            assert b"demo up to commit 1" in verified.stdout
        disk.held.unlink(missing_ok=True)


def test_a_salvage_that_is_killed_leaves_no_half_folder(tmp_path):
    data, new = tmp_path / "disk" / "data", tmp_path / "disk" / "new"
    data.parent.mkdir()
    with Hearth(data=data) as server:
        assert server.put("/a.json?ns=demo", 1).status == 200
        assert server.stop() == 0
    with ShakyDisk(tmp_path, data.parent, notes=True) as disk:
        disk.hold("log/0")
        with start(None, "log", "salvage", data, new) as salvage:
            disk.await_held()
            salvage.kill()
        assert sorted(path.name for path in data.parent.iterdir()) == ["data", "new.salvaging"]
        disk.held.unlink()
        done = hearth(None, "log", "salvage", data, new)
        assert done.returncode == 0, done.stderr
        again = hearth(None, "log", "salvage", data, new)
        assert again.returncode == 1 and b"is there already and not empty" in again.stderr
    assert sorted(path.name for path in data.parent.iterdir()) == ["data", "new"]
    with Hearth(data=new) as server:
        assert server.get("/a.json?ns=demo").json == 1


def test_a_settings_file_that_cannot_be_looked_at_is_not_taken_for_none(tmp_path):
    (tmp_path / "hearth.json").symlink_to("hearth.json")
    done = hearth(None, "check", folder=tmp_path)
    assert done.returncode == 2
    assert b"hearth.json: Too many levels of symbolic links" in done.stdout + done.stderr


def test_a_command_reads_files_through_interruptions_and_says_what_cannot_be_read(tmp_path, monkeypatch):
    file, calls = tmp_path / "files" / "value.json", tmp_path / "calls"
    file.parent.mkdir()
    file.write_text('{"a": 1}')
    with Hearth() as server:
        with ShakyDisk(tmp_path, file.parent, interrupts=True):
            done = hearth(server, "import", "/", file)
            assert done.returncode == 0, done.stderr
        with ShakyDisk(tmp_path, file.parent):
            monkeypatch.setenv("SHAKY_CALLS", str(calls))
            assert hearth(server, "import", "/", file, "--force").returncode == 0
            looks = [n for n, call in enumerate(calls_of(calls, file.parent), 1) if call[:2] == ("stat", "value.json")]
            assert looks
            for look in looks:
                monkeypatch.setenv("SHAKY_FAIL", f"{look} EIO")
                done = hearth(server, "import", "/", file, "--force")
                assert done.returncode == 1
                assert b"value.json: Input/output error" in done.stderr
