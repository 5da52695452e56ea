"""`hearth exec`: a command beside a throw-away server."""

import json
import os
import pty
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from hearth_server import BINARY

ROOT = Path(__file__).resolve().parents[2]


def environment(**variables):
    own = {k: v for k, v in os.environ.items() if not k.startswith(("HEARTH_", "FIREBASE_"))}
    own.pop("GCLOUD_PROJECT", None)
    return {**own, **variables}


def run(*arguments, folder=None, stdin=None, **variables):
    return subprocess.run(
        [BINARY, "exec", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        input=stdin,
        env=environment(**variables),
    )


def python(text):
    """A command that runs `text`, with the server's address in `url`."""
    head = "import os, json, sys, urllib.request as r; url = os.environ['HEARTH_URL']\n"
    return ["--", sys.executable, "-c", head + text]


def answers(port):
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/.health/live", timeout=5).read()
        return True
    except OSError:
        return False


def test_the_command_finds_the_server_by_the_variables():
    result = run(
        *python(
            """
names = ["FIREBASE_DATABASE_EMULATOR_HOST", "FIREBASE_AUTH_EMULATOR_HOST", "FIREBASE_EMULATOR_HUB", "GCLOUD_PROJECT"]
names += ["FIREBASE_STORAGE_EMULATOR_HOST", "STORAGE_EMULATOR_HOST"]
found = {name: os.environ[name] for name in names}
found["database"] = json.load(r.urlopen(url + "/emulators"))["database"]
print(json.dumps(found))
"""
        )
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    found = json.loads(result.stdout)
    host, port = found["FIREBASE_DATABASE_EMULATOR_HOST"].split(":")
    assert found["FIREBASE_EMULATOR_HUB"] == f"{host}:{port}"
    assert found["FIREBASE_AUTH_EMULATOR_HOST"] == f"{host}:{port}"
    assert found["FIREBASE_STORAGE_EMULATOR_HOST"] == f"{host}:{port}"
    assert found["STORAGE_EMULATOR_HOST"] == f"http://{host}:{port}"
    assert (found["database"]["host"], found["database"]["port"]) == (host, int(port))
    assert found["GCLOUD_PROJECT"] == "demo-hearth"
    assert not answers(int(port)), "the server ends with the command"


@pytest.mark.parametrize("given, inherited, expected", [
    (None, None, "demo-hearth"), (None, "theirs", "theirs"), ("ours", "theirs", "ours"),
])
def test_the_project_is_the_flag_else_the_variable(given, inherited, expected):
    flags = [f"--project={given}"] if given else []
    variables = {"GCLOUD_PROJECT": inherited} if inherited else {}
    result = run(*flags, "--", "sh", "-c", "echo $GCLOUD_PROJECT", **variables)
    assert result.stdout == expected + "\n"


@pytest.mark.parametrize("command, code", [
    (["true"], 0),
    (["sh", "-c", "exit 7"], 7),
    (["sh", "-c", "kill -TERM $$"], 128 + signal.SIGTERM),
    (["sh", "-c", "kill -KILL $$"], 128 + signal.SIGKILL),
    (["no-such-command"], 127),
    ([str(ROOT / "Package.swift")], 126),
])
def test_the_exit_code_is_that_of_the_command(command, code):
    assert run("--", *command).returncode == code


@pytest.mark.parametrize("arguments, code, text", [
    ([], 2, "--"),
    (["--rules", "no-such-file", "--", "true"], 2, "cannot read no-such-file"),
    (["--import", "no-such-file", "--", "true"], 1, "no-such-file: No such file"),
    (["--memory", "--", "true"], 2, "--memory"),
])
def test_a_server_that_cannot_start_runs_no_command(arguments, code, text, tmp_path):
    if "true" in arguments:
        arguments = [*arguments[:-1], "touch", "touched"]
    result = run(*arguments, folder=tmp_path)
    assert result.returncode == code
    assert text in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_standard_input_and_output_are_the_commands_own():
    result = run("--", "cat", stdin="one\ntwo\n")
    assert result.stdout == "one\ntwo\n"
    assert result.stderr == ""


def test_the_log_of_the_server_is_shown_when_asked_for():
    result = run("--verbose", "--", "true")
    assert "ready" in result.stderr
    assert result.stdout == ""


def test_settings_around_do_not_reach_the_server(tmp_path):
    (tmp_path / "hearth.json").write_text('{"port": "nonsense"}')
    result = run("--", "true", folder=tmp_path, HEARTH_PORT="nonsense")
    assert (result.returncode, result.stderr) == (0, "")
    assert [file.name for file in tmp_path.iterdir()] == ["hearth.json"]


def test_rules_are_in_force(tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text('{"rules": {"open": {".read": true}}}')
    result = run(
        "--rules", str(rules),
        *python(
            """
def status(path):
    try: return r.urlopen(url + path).status
    except r.HTTPError as error: return error.code
print(status("/open.json"), status("/shut.json"))
"""
        ),
    )
    assert result.stdout == "200 401\n", result.stderr


def test_what_one_run_exports_the_next_one_imports(tmp_path):
    folder = tmp_path / "a" / "b"
    write = """
for ns, value in [("one", {"a": {".value": 1, ".priority": 2}, "ü": "☃"}), ("two", "x")]:
    request = r.Request(f"{url}/.json?ns={ns}", json.dumps(value).encode(), method="PUT")
    r.urlopen(request).read()
"""
    assert run("--export-on-exit", str(folder), *python(write)).returncode == 0
    names = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
    assert names == [
        "database_export/one.json", "database_export/two.json", "firebase-export-metadata.json",
    ]
    read = """
for ns in ["one", "two", "three"]:
    print(r.urlopen(f"{url}/.json?ns={ns}&format=export").read().decode())
"""
    result = run("--import", str(folder), *python(read))
    values = [json.loads(line) for line in result.stdout.splitlines()]
    assert values == [{"a": {".value": 1, ".priority": 2}, "ü": "☃"}, "x", None]


@pytest.mark.parametrize("flag, database", [("{file}", "default"), ("Mine={file}", "mine")])
def test_a_file_is_imported_into_a_database(flag, database, tmp_path):
    file = tmp_path / "data.json"
    file.write_text('{"a": {"b": 1}}')
    read = f"print(r.urlopen(url + '/a/b.json?ns={database}').read().decode())"
    result = run("--import", flag.format(file=file), *python(read))
    assert result.stdout == "1\n", result.stderr


@pytest.mark.parametrize("text, reason", [
    ('{"a": }', ":1:7: is not JSON here"), ('{"a.b": 1}', "is not JSON here"), ("", "is not JSON"),
])
def test_a_file_that_is_no_json_is_named_with_its_position(text, reason, tmp_path):
    file = tmp_path / "data.json"
    file.write_text(text)
    result = run("--import", str(file), "--", "true")
    assert result.returncode == 1
    assert f"{file}" in result.stderr and reason in result.stderr


WAITING = """
import signal
# A pause could miss a signal that comes just before it; a byte in a pipe stays.
woken, wake = os.pipe()
os.set_blocking(wake, False)
signal.set_wakeup_fd(wake)
def stop(number, frame):
    print("got", number, flush=True)
    sys.exit(40 + number)
for number in [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]: signal.signal(number, stop)
print(os.environ["FIREBASE_DATABASE_EMULATOR_HOST"].split(":")[1], os.getpid(), flush=True)
while True: os.read(woken, 1)
"""


def waiting():
    """A command that waits for a signal; the process, the server's port, and the command's id."""
    process = subprocess.Popen(
        [BINARY, "exec", *python(WAITING)], stdout=subprocess.PIPE, env=environment()
    )
    port, command = map(int, process.stdout.readline().split())
    return process, port, command


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_are_passed_on_and_the_command_decides(number):
    process, port, _ = waiting()
    with process:
        assert answers(port)
        process.send_signal(number)
        assert process.stdout.read() == f"got {int(number)}\n".encode()
        assert process.wait(timeout=120) == 40 + number
    assert not answers(port)


def test_the_server_ends_when_exec_is_killed():
    process, port, command = waiting()
    with process:
        process.kill()
        process.wait()
        # The port is closed in the tick in which the server learns it; a connection until then ends.
        deadline = 200
        while answers(port) and deadline:
            deadline -= 1
        assert not answers(port)
        os.kill(command, signal.SIGKILL)


def test_a_key_on_the_terminal_reaches_the_command_once():
    """Ctrl-C goes to the foreground group: the command and exec, and not the server."""
    child, terminal = pty.fork()
    if child == 0:
        count = """
import signal
woken, wake = os.pipe()
os.set_blocking(wake, False)
signal.set_wakeup_fd(wake)
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
print("tty", os.isatty(0), flush=True)
while not seen: os.read(woken, 1)
# One that was passed on as well would be here by the time the server has answered.
answer = r.urlopen(url + "/.health/live").status
print("seen", len(seen), answer, flush=True)
"""
        os.execve(BINARY, [BINARY, "exec", *python(count)], environment())
    with os.fdopen(terminal, "rb", buffering=0) as screen:
        text = b""
        while b"tty True" not in text:
            text += screen.read(1024)
        os.write(terminal, b"\x03")
        while b"seen" not in text or not text.endswith(b"\n"):
            text += screen.read(1024)
        _, status = os.waitpid(child, 0)
    assert b"seen 1 200" in text
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_server_that_ends_early_is_reported():
    end = """
import signal, time
server = json.load(r.urlopen(url))["pid"]
os.kill(server, signal.SIGKILL)
# It is gone once its parent has seen that. A zombie may still have threads that end, and be no news to the parent.
while os.path.exists(f"/proc/{server}"):
    time.sleep(0.01)
"""
    result = run(*python(end))
    assert result.returncode == 1
    assert "the server ended before the command did" in result.stderr


def test_a_server_that_fails_while_it_ends_is_reported(tmp_path):
    folder = tmp_path / "export"
    # What holds the place of the folder comes after the start, which looks at it.
    result = run("--export-on-exit", str(folder), *python(f'open("{folder}", "w").close()'))
    assert result.returncode == 1
    assert "the server failed as it ended, with exit code 1" in result.stderr
