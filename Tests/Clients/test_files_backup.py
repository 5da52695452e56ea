"""Backups of files with their contents, checks of them, and links that are taken back."""

import os
import shutil

from file_requests import place, quote, upload
from hearth_server import Hearth
from test_backup import restore, run
from test_files_kills import age
from test_kills import until

BUCKET = "demo.appspot.com"
OWNER = {"Authorization": "Bearer owner"}
OBJECTS = f"/storage/v1/b/{BUCKET}/o"


def stored(folder):
    """The contents below a folder, by hash."""
    return {path.parent.name + path.name: path for path in (folder / "files" / "blobs").glob("*/*")}


def back_up(server, file, files, status=0):
    result = run("backup", "--url", server.address, file, "--files", files)
    assert result.returncode == status, result.stdout + result.stderr
    return result.stdout + result.stderr


def read(server, name):
    answer = server.get(f"{OBJECTS}/{quote(name)}?alt=media", headers=OWNER)
    return answer.body if answer.status == 200 else answer.status


CONTENTS = {"a.txt": b"hello", "same.txt": b"hello", "empty": b"", "d/ü%.bin": os.urandom(5_000_000)}


def filled(folder):
    server = Hearth(data=folder)
    for name, content in CONTENTS.items():
        assert upload(server, name, content, {"metadata": {"of": name}}).status == 200
    return server


def test_contents_come_back_and_later_backups_copy_what_is_new(tmp_path):
    files = tmp_path / "kept"
    with filled(tmp_path / "old") as server:
        said = back_up(server, tmp_path / "first", files)
        assert "3 contents of files, 5000005 bytes; 3 copied, 5000005 bytes" in said
        assert upload(server, "new", b"new").status == 200
        assert "4 contents of files, 5000008 bytes; 1 copied, 3 bytes" in back_up(server, tmp_path / "second", files)
        for name in CONTENTS:
            assert server.request("DELETE", place(name)).status == 204
        # An older one still needs them; a new one does not.
        assert "1 contents of files, 3 bytes; 0 copied" in back_up(server, tmp_path / "third", files)
        assert server.stop() == 0
    assert len(stored(files)) == 4 and not os.listdir(files / "files" / "uploads")
    assert run("backup", "--verify", tmp_path / "first", "--files", files).returncode == 0
    done = run("restore", tmp_path / "first", "--data-dir", tmp_path / "new", "--files", files)
    assert done.returncode == 0 and "3 contents of files" in done.stdout, done.stderr
    shutil.rmtree(tmp_path / "old")
    with Hearth(data=tmp_path / "new") as server:
        assert {name: read(server, name) for name in CONTENTS} == CONTENTS and read(server, "new") == 404
        assert server.get(place("d/ü%.bin")).json["metadata"] == {"of": "d/ü%.bin"}
        assert run("files", "check", "--url", server.address).returncode == 0
        # It goes on from there.
        assert upload(server, "later", b"later").status == 200
        assert server.stop() == 0
    # The same of a folder, and into one that has all but the newest.
    done = run("backup", "--data-dir", tmp_path / "new", tmp_path / "fourth", "--files", files)
    assert done.returncode == 0 and "4 contents of files, 5000010 bytes; 1 copied, 5 bytes" in done.stdout, done.stderr
    # Without the folder a backup says what it lacks, and restores the records.
    assert "--files FOLDER takes them along" in run("backup", "--verify", tmp_path / "fourth").stdout
    restore(tmp_path / "fourth", tmp_path / "bare")
    checked = run("files", "check", "--data-dir", tmp_path / "bare")
    assert checked.returncode == 1 and "/a.txt and 1 more: " in checked.stdout and checked.stdout.count(" is missing\n") == 4


def test_what_is_missing_or_damaged_is_named_and_makes_no_backup(tmp_path):
    data, files = tmp_path / "data", tmp_path / "kept"
    with filled(data) as server:
        assert upload(server, "gone", b"gone").status == 200
        assert server.request("DELETE", place("gone")).status == 204
        back_up(server, tmp_path / "whole", files)
        checked = run("files", "check", "--url", server.address)
        assert checked.returncode == 0 and "all whole" in checked.stdout and "1 that no file has" in checked.stdout
        large = max(stored(data).values(), key=lambda path: path.stat().st_size)
        small = next(path for path in stored(data).values() if path.stat().st_size == 5)
        content = bytearray(large.read_bytes())
        content[4_200_000] ^= 1
        os.chmod(large, 0o600)
        large.write_bytes(content)
        small.unlink()
        for where in (["--url", server.address], None):
            if where is None:
                assert server.stop() == 0
            found = run("files", "check", *(where or ["--data-dir", data]))
            lines = found.stdout.splitlines()
            assert found.returncode == 1 and "2 faults" in found.stdout and "from a backup" in found.stdout, found.stderr
            assert [line for line in lines if f"{BUCKET}/d/ü%.bin: " in line and "is damaged" in line and large.name in line]
            assert [line for line in lines if "/a.txt and 1 more: " in line and "is missing" in line and small.name in line]
            target = tmp_path / "partial"
            refused = run("backup", *(where or ["--data-dir", data]), target, "--files", tmp_path / "other")
            assert refused.returncode == 1 and "2 contents of files are missing or damaged" in refused.stderr
            assert not target.exists() and "d/ü%.bin" in refused.stderr
            # What is in the folder already is whole, so the next backup can be made.
            assert run("backup", *(where or ["--data-dir", data]), target, "--files", files).returncode == 0
            target.unlink()
    # By the same path in the folder of the backup.
    for path in (large, small):
        path.unlink(missing_ok=True)
        shutil.copy(files / path.relative_to(data), path)
    assert run("files", "check", "--data-dir", data).returncode == 0
    # A folder of a backup that is damaged restores nothing, and leaves nothing.
    (files / small.relative_to(data)).unlink()
    refused = run("restore", tmp_path / "whole", "--data-dir", tmp_path / "new", "--files", files)
    assert refused.returncode == 1 and "1 contents of files are missing" in refused.stderr
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("new")]
    verified = run("backup", "--verify", tmp_path / "whole", "--files", files)
    assert verified.returncode == 1 and "/a.txt and 1 more: " in verified.stderr


def test_only_administrators_get_contents_by_their_hash(tmp_path):
    with Hearth("--files-bucket", "one", data=tmp_path / "data", dev=False) as server:
        head = {"Authorization": f"Bearer {(tmp_path / 'data' / 'admin-secret').read_text().strip()}"}
        path = "/upload/storage/v1/b/one/o?uploadType=media&name=a"
        assert server.request("POST", path, raw=b"hello", headers=head).status == 200
        [hash] = stored(tmp_path / "data")
        listed = server.get("/.backup/blobs.json", headers=head).json
        assert [one["hash"] for one in listed["blobs"]] == [hash] and listed["isLast"]
        assert server.get(f"/.backup/blobs.json?after={hash}", headers=head).json["blobs"] == []
        for resource in ("/.backup/blobs.json", f"/.backup/blobs/{hash}"):
            assert server.get(resource).status == 401
        for part, status, body in ((None, 200, b"hello"), ("bytes=1-2", 206, b"el"), ("bytes=9-", 416, b"")):
            found = server.get(f"/.backup/blobs/{hash}", headers={**head, **({"Range": part} if part else {})})
            assert (found.status, found.body) == (status, body)
        for resource, status in ((f"blobs/{'0' * 64}", 404), ("blobs/x", 400), ("blobs.json?after=x", 400)):
            assert server.get(f"/.backup/{resource}", headers=head).status == status


def test_links_are_taken_back(tmp_path):
    with filled(tmp_path / "data") as server:
        links = {name: server.get(place(name)).json["downloadTokens"] for name in CONTENTS}

        def opens(name):
            return server.get(f"{place(name)}?alt=media&token={links[name]}").status == 200

        server.request(
            "PUT", "/internal/setRules",
            {"rules": {"files": [{"name": "storage.rules", "content": "rules_version = '2'; service firebase.storage {}"}]}},
        )
        assert all(opens(name) for name in CONTENTS)
        done = run("files", "revoke-tokens", BUCKET, "--prefix", "d/", "--url", server.address)
        assert done.returncode == 0 and "of 1 file, of 1 in" in done.stdout, done.stderr
        assert [name for name in CONTENTS if not opens(name)] == ["d/ü%.bin"]
        assert "of 3 files, of 4 in" in run("files", "revoke-tokens", BUCKET, "--url", server.address).stdout
        assert not any(opens(name) for name in CONTENTS)
        assert {name: read(server, name) for name in CONTENTS} == CONTENTS


def test_nothing_is_collected_while_a_backup_reads(tmp_path):
    """Of two servers with an old content that no file has, one is asked for contents: only the other one collects."""
    folders = [tmp_path / "asked", tmp_path / "other"]
    for folder in folders:
        with Hearth(data=folder) as server:
            assert upload(server, "gone", b"gone").status == 200
            assert server.request("DELETE", place("gone")).status == 204
            assert server.stop() == 0
        age(folder)
    [hash] = stored(folders[0])
    with Hearth(data=folders[0]) as asked:
        # The first pass begins a second after the start.
        listed = asked.get("/.backup/blobs.json", headers=OWNER).json["blobs"]
        assert [one["hash"] for one in listed] == [hash]
        with Hearth(data=folders[1]):
            until(lambda: not stored(folders[1]), "a collection")
        assert asked.get(f"/.backup/blobs/{hash}", headers=OWNER).body == b"gone"
