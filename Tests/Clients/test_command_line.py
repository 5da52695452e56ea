"""The command line: usage, exit codes, and the commands that need no server."""

import json
import os
import re
import signal
import subprocess
import time
import urllib.request

import pytest

from hearth_server import BINARY, Hearth


def run(*arguments, folder=None, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HEARTH_")}
    return subprocess.run(
        [BINARY, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={**environment, **variables},
    )


def test_the_version_is_printed():
    assert run("--version").stdout.strip() == run("version").stdout.removeprefix("hearth ").strip()


@pytest.mark.parametrize("arguments", [[], ["--help"], ["serve", "--help"], ["help", "log"]])
def test_help_is_no_error(arguments):
    result = run(*arguments)
    assert result.returncode == 0
    assert "USAGE" in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["frobnicate"], "frobnicate"),
        (["serve", "--prot", "1"], "--prot"),
        (["serve", "--port", "x"], "--port: must be a number from 0 to 65535, not 'x'"),
        (["serve", "--dev", "--host", "0.0.0.0"], "--dev-exposed"),
        (["serve", "--memory"], "--memory: keeps nothing on disk"),
        (["serve", "--rules", "no-such-file.json"], "cannot read no-such-file.json"),
        (["serve", "--config", "no-such-file.json"], "no-such-file.json: No such file"),
        (["rules", "check"], "files"),
        (["log", "salvage", "one"], "destination"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_why(arguments, text, tmp_path):
    result = run(*arguments, folder=tmp_path)
    assert result.returncode == 2
    assert text in result.stderr
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_all_faults_of_a_configuration_are_reported_at_once(tmp_path):
    (tmp_path / "hearth.json").write_text('{\n  // a comment\n  "log-format": "xml"\n}\n')
    result = run("serve", "--port", "x", folder=tmp_path, HEARTH_DURABILITY="never")
    assert result.returncode == 2
    for place in ["--port", "HEARTH_DURABILITY", "hearth.json:3:17"]:
        assert f"error: {place}: " in result.stderr


def test_rules_are_checked_with_every_fault_in_its_place(tmp_path):
    good = tmp_path / "good.json"
    good.write_text('{"rules":{".read":"auth != null"}}')
    bad = tmp_path / "bad.json"
    bad.write_text('{"rules":{\n  ".read": "nobody",\n  "a": {".write": "data.foo("}\n}}')
    assert run("rules", "check", good).returncode == 0
    result = run("rules", "check", good, bad, tmp_path / "none.json")
    assert result.returncode == 1
    assert f"{good}: ok" in result.stdout
    assert f"{bad}:2:13: error: " in result.stderr
    assert f"{bad}:3:" in result.stderr
    assert "none.json: No such file" in result.stderr


def test_a_data_folder_is_inspected_verified_and_salvaged(tmp_path):
    data = tmp_path / "data"
    with Hearth(data=data) as server:
        for number in range(5):
            assert server.put(f"/n/{number}.json", number).status == 200
        assert run("log", "salvage", data, tmp_path / "early").returncode == 1
        assert server.stop() == 0
    listing = run("log", "inspect", "--records", data)
    assert listing.returncode == 0
    commits = dict(re.findall(r" default commit (\d+) .* at byte (\d+)", listing.stdout))
    assert sorted(commits) == ["1", "2", "3", "4", "5"]
    assert run("log", "verify", data).returncode == 0

    segment = sorted((data / "log").glob("*.log"))[-1]
    with open(segment, "r+b") as file:
        file.seek(int(commits["3"]) - 1)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    damaged = run("log", "verify", data)
    assert damaged.returncode == 1
    assert segment.name in damaged.stdout

    copy = tmp_path / "copy"
    assert run("log", "salvage", data, copy).returncode == 1
    assert run("log", "verify", copy).returncode == 0
    saved = run("log", "inspect", "--records", copy).stdout
    assert " default commit 1 " in saved and " default commit 5 " in saved
    assert " default commit 2 " not in saved


def test_a_folder_that_is_none_is_said_to_be_none(tmp_path):
    for command in ["inspect", "verify"]:
        result = run("log", command, tmp_path)
        assert result.returncode == 1
        assert "not a Hearth data folder" in result.stderr


def test_a_server_without_standard_streams_serves_and_stops(tmp_path):
    """Its log and its ready line go nowhere, and not into what it opened."""
    project = "demo-streams-%d" % os.getpid()
    serve = f'exec "$0" serve --dev --memory --port 0 --project {project} 0<&- 1>&- 2>&-'
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HEARTH_")}
    process = subprocess.Popen(
        ["sh", "-c", serve, BINARY], env={**environment, "TMPDIR": str(tmp_path)}, cwd=tmp_path
    )
    locator = tmp_path / f"hub-{project}.json"
    deadline = time.monotonic() + 120
    try:
        while not locator.exists():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        null = os.stat("/dev/null")
        for number in range(3):
            held = os.stat(f"/proc/{process.pid}/fd/{number}")
            assert (held.st_dev, held.st_ino) == (null.st_dev, null.st_ino)
        origin = json.loads(locator.read_text())["origins"][0]
        with urllib.request.urlopen(f"{origin}/.json", timeout=120) as answer:
            assert answer.read().strip() == b"null"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=120) == 0
    finally:
        process.kill()
        process.wait()
