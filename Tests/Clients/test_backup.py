"""`hearth backup` and `hearth restore`: hot, consistent, verified."""

import http.server
import json
import os
import signal
import socket
import stat
import subprocess
import threading

import pytest

import vocabulary
from hearth_server import BINARY, Hearth
from wire_client import Wire


def run(*arguments, **variables):
    own = {k: v for k, v in os.environ.items() if not k.startswith(("HEARTH_", "FIREBASE_"))}
    return subprocess.run(
        [BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120,
        env={**own, **variables},
    )


def backup(server, file, *arguments):
    result = run("backup", "--url", server.address, file, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def restore(file, folder):
    result = run("restore", file, "--data-dir", folder)
    assert result.returncode == 0, result.stderr
    assert run("log", "verify", folder).returncode == 0


def names(folder):
    return sorted(path.name for path in folder.iterdir())


DATA = {"a": {"list": [1, 2, 3], "deep": {"x": {"y": "z" * 1000}}}, "ü": "☃", "n": -1.5, "t": True}


# What a backup holds


def test_data_rules_settings_and_on_disconnect_writes_come_back(tmp_path):
    rules = '{"rules": {/* ours */ ".read": true, ".write": "auth == null"}}'
    with Hearth(data=tmp_path / "old") as server:
        server.put("/.json?ns=one", DATA)
        server.put("/p.json?ns=two", {".value": 5, ".priority": "first"})
        assert server.request("PUT", "/.settings/rules.json?ns=two", raw=rules.encode()).status == 200
        setting = "/.settings/defaultWriteSizeLimit.json?ns=one"
        assert server.put(setting, "small").status == 200
        with Wire(server.port, ns="one") as client:
            assert client.request("o", p="/gone", d={".sv": "timestamp"})[0]["s"] == "ok"
            reason = backup(server, tmp_path / "file")
        stored = server.get("/.json?ns=one&format=export").json
    assert "2 databases" in reason and "one up to commit" in reason and "two up to commit" in reason
    assert os.stat(tmp_path / "file").st_mode & 0o777 == 0o600
    restore(tmp_path / "file", tmp_path / "new")
    with Hearth(data=tmp_path / "new") as server:
        found = server.get("/.json?ns=one&format=export").json
        # The session was alive at the moment of the backup and is not now.
        assert found.pop("gone") > 1_600_000_000_000
        stored.pop("gone", None)
        assert found == stored
        two = {"p": {".value": 5, ".priority": "first"}}
        assert server.get("/.json?ns=two&format=export").json == two
        assert server.get("/.settings/rules.json?ns=two").text == rules
        assert server.get(setting).json == "small"
        # It goes on from there, also over a restart.
        assert server.put("/later.json?ns=one", 1).status == 200
        assert server.stop() == 0
        server.start()
        assert server.get("/later.json?ns=one").json == 1


def test_a_backup_of_a_restored_folder_holds_the_same(tmp_path):
    with Hearth(data=tmp_path / "a") as server:
        server.put("/.json?ns=one", DATA)
        server.put("/.json?ns=two", 5)
        backup(server, tmp_path / "first")
        assert server.stop() == 0
    restore(tmp_path / "first", tmp_path / "b")
    assert run("backup", "--data-dir", tmp_path / "b", tmp_path / "second").returncode == 0
    restore(tmp_path / "second", tmp_path / "c")
    with Hearth(data=tmp_path / "c") as server:
        assert server.get("/.json?ns=one").json == DATA
        assert server.get("/.json?ns=two").json == 5
        backup(server, tmp_path / "third")
    # But for time and checksums all three are one.
    sizes = {os.stat(tmp_path / name).st_size for name in ["first", "second", "third"]}
    assert len(sizes) == 1


def test_a_server_that_holds_nothing_has_a_backup(dev, tmp_path):
    assert "0 databases" in backup(dev, tmp_path / "file")
    restore(tmp_path / "file", tmp_path / "new")
    with Hearth(data=tmp_path / "new") as server:
        assert server.get("/.json").json is None
        assert server.put("/a.json", 1).status == 200


def test_large_values_come_back(dev, tmp_path):
    chance = vocabulary.drawn()
    order = chance.choice(vocabulary.ORDERS)
    # The longest keys make as many pages of fewer.
    names = vocabulary.keys(order, 3_000 if order == "longest" else 30_000, chance)
    data = {"text": "x" * 3_000_000, "many": {name: n for n, name in enumerate(names)}}
    assert dev.put("/.json", data).status == 200
    backup(dev, tmp_path / "file")
    assert run("backup", "--verify", tmp_path / "file").returncode == 0
    restore(tmp_path / "file", tmp_path / "new")
    with Hearth(data=tmp_path / "new") as server:
        assert server.get("/.json").json == data


# One point


class Writer(threading.Thread):
    """Writes n, rising, to two databases in turn, each after the other was acknowledged."""

    def __init__(self, server, name, stop, chance):
        super().__init__()
        self.places = vocabulary.Places(chance)
        self.server, self.key, self.stop = server, f"w{name}", stop
        self.acknowledged = 0
        self.begun = threading.Event()

    def run(self):
        with Wire(self.server.port, ns="one") as one, Wire(self.server.port, ns="two") as two:
            number = 0
            while not self.stop.is_set():
                for client in (one, two):
                    body, _ = client.request("p", p=f"/{self.key}/{self.places[number]}", d=number)
                    assert body["s"] == "ok"
                number += 1
                self.acknowledged = number
                self.begun.set()


def test_a_backup_under_8_writers_holds_a_prefix_of_each(durable, tmp_path):
    stop = threading.Event()
    chance = vocabulary.drawn()
    writers = [Writer(durable, name, stop, chance) for name in range(8)]
    before = []
    try:
        for writer in writers:
            writer.start()
        for writer in writers:
            assert writer.begun.wait(120)
        for index in range(4):
            before.append([writer.acknowledged for writer in writers])
            backup(durable, tmp_path / f"file{index}")
    finally:
        stop.set()
        for writer in writers:
            writer.join(120)
    for index in range(4):
        folder = tmp_path / f"new{index}"
        restore(tmp_path / f"file{index}", folder)
        with Hearth(data=folder) as server:
            one, two = (server.get(f"/.json?ns={ns}").json for ns in ["one", "two"])
        for writer, acknowledged in zip(writers, before[index]):
            first = writer.places.numbers(one[writer.key])
            second = writer.places.numbers(two[writer.key])
            assert first == list(range(len(first)))
            assert second == list(range(len(second)))
            # What was acknowledged before is in it, and both databases are of one moment.
            assert len(second) >= acknowledged
            assert len(first) - len(second) in (0, 1), (index, writer.key)


# Who may


def test_in_production_an_admin_may(tmp_path):
    with Hearth(dev=False, data=tmp_path / "data") as server:
        secret = tmp_path / "data" / "admin-secret"
        result = run("backup", "--url", server.address, tmp_path / "file", "--anonymous")
        assert result.returncode == 1 and "401" in result.stderr
        assert not (tmp_path / "file").exists()
        backup(server, tmp_path / "file", "--admin-secret-file", secret)
        assert server.request("POST", "/.backup").status == 405
    assert names(tmp_path) == ["data", "file"]


def test_no_page_of_another_origin_may(dev):
    assert dev.get("/.backup", headers={"Origin": "https://evil.example"}).status == 403


# What is refused


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    with Hearth() as server:
        server.put("/.json?ns=one", {"text": "x" * 300_000, "a": DATA})
        server.put("/.json?ns=two", DATA)
        backup(server, folder / "file")
    return (folder / "file").read_bytes()


def assert_refused(tmp_path, content, reason):
    file = tmp_path / "file"
    file.write_bytes(content)
    for command in [["backup", "--verify", file], ["restore", file, "--data-dir", tmp_path / "new"]]:
        result = run(*command)
        assert result.returncode == 1
        assert str(file) in result.stderr and reason in result.stderr, result.stderr
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("place, reason", [
    (0, "is no backup"), (8, "has format"), (17, "damaged at byte 0"), (24, "damaged at byte 0"),
    (40, "damaged at byte 40: chunk 0"), (100, "damaged at byte 40: chunk 0"),
    (0.5, "damaged at byte"), (-1, "the trailer"), (-30, "the trailer"),
])
def test_a_changed_byte_is_found_and_named(whole, tmp_path, place, reason):
    content = bytearray(whole)
    place = int(len(content) * place) if isinstance(place, float) else place
    content[place] ^= 0x10
    assert_refused(tmp_path, bytes(content), reason)


@pytest.mark.parametrize("kept", [1, 39, 40, 41, 0.3, 0.9, -1])
def test_a_file_cut_short_is_found_and_named(whole, tmp_path, kept):
    kept = int(len(whole) * kept) if isinstance(kept, float) else kept
    content = whole[:kept]
    assert_refused(tmp_path, content, f"cut short: it ends at byte {len(content)}")


def test_other_files_are_no_backups(whole, tmp_path):
    assert_refused(tmp_path, b"", "is no backup")
    assert_refused(tmp_path, b'{"a": 1}', "is no backup")
    assert_refused(tmp_path, whole + b"x", f"damaged at byte {len(whole)}: bytes follow")


def test_a_missing_file_is_reported(tmp_path):
    for command in [["backup", "--verify"], ["restore", "--data-dir", tmp_path / "new"]]:
        result = run(*command, tmp_path / "nothing")
        assert result.returncode == 1 and "No such file" in result.stderr
    assert names(tmp_path) == []


@pytest.mark.parametrize("content", ["FORMAT", "notes.txt", "LOCK"])
def test_a_folder_that_holds_something_is_not_restored_into(whole, tmp_path, content):
    (tmp_path / "file").write_bytes(whole)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / content).write_text("mine")
    result = run("restore", tmp_path / "file", "--data-dir", tmp_path / "new")
    assert result.returncode == 1 and "not empty" in result.stderr
    assert names(tmp_path / "new") == [content]


def test_an_empty_folder_is_restored_into(whole, tmp_path):
    (tmp_path / "file").write_bytes(whole)
    (tmp_path / "new").mkdir()
    restore(tmp_path / "file", str(tmp_path / "new") + "/")


def test_what_a_killed_restore_left_is_no_obstacle(whole, tmp_path):
    (tmp_path / "file").write_bytes(whole)
    left = tmp_path / "new.restoring"
    for folder in [left, left / "log", left / "checkpoints", left / "checkpoints" / ("0" * 19 + "7.partial")]:
        folder.mkdir()
    (left / "FORMAT").write_text("half")
    restore(tmp_path / "file", tmp_path / "new")
    assert names(tmp_path) == ["file", "new"]


@pytest.mark.parametrize("kind", ["file", "link", "shared", "strangers"])
def test_what_no_restore_left_does_not_become_part_of_the_folder(whole, tmp_path, kind):
    (tmp_path / "file").write_bytes(whole)
    left, theirs = tmp_path / "new.restoring", tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "FORMAT").write_text("kept")
    if kind == "file":
        left.write_text("x")
    elif kind == "link":
        left.symlink_to(theirs)
    else:
        left.mkdir(mode=0o755)
        (left / "admin-secret").write_text("x" * 40)
        left.chmod(0o777 if kind == "shared" else 0o755)
    result = run("restore", tmp_path / "file", "--data-dir", tmp_path / "new")
    assert result.returncode == 1 and "not what a restore or salvage leaves" in result.stderr
    assert names(tmp_path) == ["file", "new.restoring", "theirs"]
    assert names(theirs) == ["FORMAT"]


def test_a_link_to_an_empty_folder_is_restored_into(whole, tmp_path):
    (tmp_path / "file").write_bytes(whole)
    (tmp_path / "there").mkdir()
    (tmp_path / "new").symlink_to("there")
    restore(tmp_path / "file", tmp_path / "new")
    assert names(tmp_path) == ["file", "new", "there"] and (tmp_path / "new").is_symlink()
    (tmp_path / "none").symlink_to("nothing")
    result = run("restore", tmp_path / "file", "--data-dir", tmp_path / "none")
    assert result.returncode == 1 and "No such file" in result.stderr


@pytest.mark.parametrize("folder", [".", "nothing"])
def test_what_is_no_data_folder_is_not_backed_up(tmp_path, folder):
    result = run("backup", "--data-dir", tmp_path / folder, tmp_path / "file")
    assert result.returncode == 1 and "is not a Hearth data folder" in result.stderr
    assert names(tmp_path) == []


def test_a_folder_in_use_is_not_backed_up_behind_the_servers_back(durable, tmp_path):
    result = run("backup", "--data-dir", tmp_path / "data", tmp_path / "file")
    assert result.returncode == 1 and f"in use by process {durable.process.pid}" in result.stderr
    assert not (tmp_path / "file").exists()


def test_a_backup_is_its_owners_whatever_was_left_under_its_name(dev, tmp_path):
    file, partial, theirs = (tmp_path / name for name in ["file", "file.partial", "theirs"])
    partial.write_text("x")
    partial.chmod(0o666)
    backup(dev, file)
    assert os.stat(file).st_mode & 0o777 == 0o600
    theirs.write_text("kept")
    partial.symlink_to(theirs)
    backup(dev, file)
    assert theirs.read_text() == "kept" and not file.is_symlink()
    assert names(tmp_path) == ["file", "theirs"]


def test_no_device_or_pipe_is_replaced_by_a_backup(dev, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for target in ["/dev/full", "/dev/stdout", tmp_path / "pipe", tmp_path]:
        result = run("backup", "--url", dev.address, target)
        assert result.returncode == 1 and "is not a regular file" in result.stderr
    assert names(tmp_path) == ["pipe"]
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


# What is cut


def test_a_backup_that_is_killed_leaves_no_half_file(dev, tmp_path):
    file, partial = tmp_path / "file", tmp_path / "file.partial"
    file.write_text("the one before")
    # Large enough that it is never whole before it is killed.
    for n in range(8):
        assert dev.put(f"/{n}.json", "x" * 9_000_000).status == 200
    process = subprocess.Popen(
        [BINARY, "backup", "--url", dev.address, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        while not partial.exists() or partial.stat().st_size == 0:
            assert process.poll() is None
        process.kill()
        process.wait()
    assert file.read_text() == "the one before"
    assert run("backup", "--verify", partial).returncode == 1
    backup(dev, file)
    assert names(tmp_path) == ["file"]
    assert run("backup", "--verify", file).returncode == 0


class HalfServer(http.server.BaseHTTPRequestHandler):
    """Ends its answer in good order, before the archive is whole."""

    content = b""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, *_):
        pass


def test_half_an_archive_from_a_server_is_refused(whole, tmp_path):
    with http.server.HTTPServer(("127.0.0.1", 0), HalfServer) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            url = f"http://127.0.0.1:{server.server_port}"
            for content, reason in [
                (whole[: len(whole) // 2], "what the server sent is cut short"),
                (whole[:-1], "what the server sent is cut short"),
                (whole.replace(b"z" * 10, b"y" * 10, 1), "what the server sent is damaged at byte"),
                (b"<html>", "what the server sent is no backup"),
            ]:
                HalfServer.content = content
                result = run("backup", "--url", url, tmp_path / "file")
                assert result.returncode == 1 and reason in result.stderr, result.stderr
                assert names(tmp_path) == []
        finally:
            server.shutdown()


def test_a_server_that_is_killed_leaves_no_half_file(tmp_path):
    with Hearth() as server:
        for n in range(8):
            server.put(f"/{n}.json", "x" * 9_000_000)
        file, partial = tmp_path / "file", tmp_path / "file.partial"
        process = subprocess.Popen(
            [BINARY, "backup", "--url", server.address, file],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        with process:
            while not partial.exists() or partial.stat().st_size == 0:
                assert process.poll() is None
            server.kill()
            assert process.wait(timeout=120) == 1
            assert "lost" in process.stderr.read()
    assert names(tmp_path) == []


def test_readers_that_do_not_read_take_their_places_and_give_them_back(dev):
    """Each backup under way keeps an old state in memory, so they are few."""
    for n in range(4):
        dev.put(f"/{n}.json", "x" * 9_000_000)
    held = []
    for _ in range(4):
        reader = socket.create_connection(("127.0.0.1", dev.port))
        reader.sendall(b"GET /.backup HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert reader.recv(15) == b"HTTP/1.1 200 OK"
        held.append(reader)
    assert dev.get("/.backup").status == 503
    # They delay no other client.
    assert dev.put("/a.json", 1).status == 200
    for reader in held:
        reader.close()
    while dev.get("/.backup").status == 503:
        pass


def test_two_backups_into_one_file_do_not_mix(dev, tmp_path):
    for n in range(4):
        dev.put(f"/{n}.json", "x" * 9_000_000)
    command = [BINARY, "backup", "--url", dev.address, tmp_path / "file"]
    both = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for _ in range(2)]
    results = [(process.communicate(timeout=120)[1], process.returncode) for process in both]
    assert 0 in [code for _, code in results]
    for text, code in results:
        assert code == 0 or "file.partial" in text, text
    assert names(tmp_path) == ["file"]
    assert run("backup", "--verify", tmp_path / "file").returncode == 0
