"""Folders and backups that hearth 0.1.0 wrote, and could not always read itself (Folders/make.py), open."""

import json
import shutil
import tarfile
from pathlib import Path

import pytest

from hearth_server import Hearth
from test_backup import restore, run

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
