"""Folders and backups of earlier servers open: of hearth 0.1.0, which could not always read them itself (Folders/make.py),
and of the last one before its modules were laid out anew, with every kind of record (Folders/make_whole.py)."""

import json
import shutil
import tarfile
from pathlib import Path

import pytest

from hearth_server import Hearth
from test_backup import restore, run
from whole_folder import PASSWORDS, WholeFolder

ARCHIVES = Path(__file__).resolve().parent / "Folders"


@pytest.fixture(params=["checkpoint", "records", "claims"])
def old(request, tmp_path):
    """A folder with `data`, `twin.json` and, where there is one, `backup`."""
    with tarfile.open(ARCHIVES / f"{request.param}.tar.xz") as archive:
        archive.extractall(tmp_path)
    return tmp_path


def expect_twin(folder, old):
    twin = json.loads((old / "twin.json").read_text())
    with Hearth(data=folder) as server:
        for name, root in twin.items():
            assert server.get(f"/.json?ns={name}").json == root
        assert server.stop() == 0


def test_it_verifies_starts_and_holds_what_was_written(old):
    assert run("log", "verify", old / "data").returncode == 0
    expect_twin(old / "data", old)
    expect_twin(old / "data", old)


def test_it_can_be_backed_up_offline_and_restored(old):
    result = run("backup", "--data-dir", old / "data", old / "new")
    assert result.returncode == 0, result.stderr
    restore(old / "new", old / "restored")
    expect_twin(old / "restored", old)


@pytest.mark.parametrize("old", ["checkpoint"], indirect=True)
def test_its_backup_verifies_and_restores(old):
    result = run("backup", "--verify", old / "backup")
    assert result.returncode == 0, result.stderr
    restore(old / "backup", old / "restored")
    expect_twin(old / "restored", old)


def test_what_is_salvaged_of_it_starts(old):
    result = run("log", "salvage", old / "data", old / "salvaged")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "the new folder was read back whole" in result.stdout
    expect_twin(old / "salvaged", old)


def test_what_is_salvaged_of_it_without_its_checkpoint_starts(old):
    checkpoints = sorted((old / "data" / "checkpoints").iterdir())
    for checkpoint in checkpoints:
        data = checkpoint / "data"
        content = bytearray(data.read_bytes())
        content[len(content) // 2] ^= 1
        data.write_bytes(content)
    verified = run("log", "verify", old / "data")
    assert verified.returncode == (1 if checkpoints else 0), verified.stdout
    salvaged = old / "salvaged"
    result = run("log", "salvage", old / "data", salvaged)
    assert result.returncode == 0, result.stdout + result.stderr
    expect_twin(salvaged, old)
    # One bad checkpoint is no reason not to start: the log goes back to its beginning.
    shutil.rmtree(salvaged)
    expect_twin(old / "data", old)


# A folder with every kind of record.


@pytest.fixture
def whole(tmp_path):
    """A folder with `data`, `backup`, `key.json` and `twin.json`."""
    with tarfile.open(ARCHIVES / "whole.tar.xz") as archive:
        archive.extractall(tmp_path)
    return tmp_path


def expect_whole(folder, whole):
    """Everything is there that the old server showed, and everything that it gave out opens this one."""
    twin = json.loads((whole / "twin.json").read_text())
    with WholeFolder(folder, whole / "key.json") as opened:
        state = opened.state()
        # The session of this on-disconnect write ended with the server that was killed.
        assert state["database one"]["data"].pop("left") == "by a server that was killed"
        assert {part: state[part] for part in twin["state"]} == twin["state"]
        for email, password in PASSWORDS.items():
            answer = opened.identity("signInWithPassword", email=email, password=password)
            assert answer.status == 200, answer.text
            wrong = opened.identity("signInWithPassword", email=email, password=password + "x")
            assert wrong.status == 400, wrong.text
        disabled = opened.identity("signInWithPassword", email="gone@example.com", password="secret")
        assert disabled.status == 400, disabled.text
        opened.ask("PUT", "/later.json?ns=one", "written by this server")
        assert opened.server.stop() == 0
    with WholeFolder(folder, whole / "key.json") as again:
        assert again.ask("GET", "/later.json?ns=one").json == "written by this server"


def expect_tokens(folder, whole):
    """Tokens and keys that the old server gave out count."""
    with WholeFolder(folder, whole / "key.json") as opened:
        refreshed = opened.refresh(json.loads((whole / "twin.json").read_text())["refresh"])
        assert refreshed.status == 200, refreshed.text
        access = opened.service_token()
        assert access.status == 200, access.text
        head = {"Authorization": f"Bearer {access.json['access_token']}"}
        assert opened.server.get("/two.json?ns=two", headers=head).json == "of the second database"


def test_all_that_an_old_folder_holds_is_there(whole):
    assert run("log", "verify", whole / "data").returncode == 0
    expect_tokens(whole / "data", whole)
    expect_whole(whole / "data", whole)


def test_all_that_an_old_backup_holds_is_there(whole):
    result = run("backup", "--verify", whole / "backup")
    assert result.returncode == 0, result.stderr
    restore(whole / "backup", whole / "restored")
    expect_whole(whole / "restored", whole)


def test_all_that_is_salvaged_of_an_old_folder_is_there(whole):
    result = run("log", "salvage", whole / "data", whole / "salvaged")
    assert result.returncode == 0, result.stdout + result.stderr
    expect_whole(whole / "salvaged", whole)
