"""What hostile servers, files, folders and requests may try, and what becomes of it."""

import json
import os
import resource
import socket
import subprocess
import threading

import pytest

from command_line import environment, hearth
from hearth_server import BINARY, Hearth
from raw_http import Raw, request

OPEN = b'{"rules":{".read":true,".write":true}}'
CLOSED = b'{"rules":{".read":false,".write":true}}'
STREAM = "Accept: text/event-stream"


# Requests


@pytest.fixture
def production(tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"rules": {"open": {".write": True}, ".read": "auth != null"}}))
    with Hearth("--rules", str(rules), data=tmp_path / "data", dev=False) as server:
        server.secret = (tmp_path / "data" / "admin-secret").read_text().strip()
        yield server


def reading_seconds(server):
    """The longest that the thread which reads large bodies took for one."""
    answer = server.get("/.metrics", headers={"Authorization": f"Bearer {server.secret}"})
    name = 'hearth_work_longest_seconds{kind="reading"} '
    return float(next(line for line in answer.text.splitlines() if line.startswith(name)).split()[1])


@pytest.mark.parametrize("name", ["strictTriggerValidation", "ruleset_labels"])
def test_a_setting_of_megabytes_is_refused_unread(production, name):
    body = b"[" + b"1," * 500_000 + b"1]"
    assert production.request("PUT", f"/.settings/{name}.json", raw=body).status == 401
    bearer = {"Authorization": f"Bearer {production.secret}"}
    answer = production.request("PUT", f"/.settings/{name}.json", raw=body, headers=bearer)
    assert answer.status == 400
    assert answer.json["error"] == "A setting has at most 65536 bytes"


PATTERN = '"newData.val().matches(/(a|b|c|[a-z]{1,50}){1,20}x/)"'
COSTLY_RULES = '{"rules":{%s}}' % ",".join(f'"k{n}":{{".validate":{PATTERN}}}' for n in range(500))


@pytest.mark.parametrize(
    "method, path, body",
    [
        ("POST", "/.simulate", '{"op":"read","path":"/","data":[%s1]}' % ("1," * 500_000)),
        ("PUT", "/.settings/rules.json", COSTLY_RULES),
        ("POST", "/.settings/rulesets.json", COSTLY_RULES),
    ],
    ids=["simulation", "rules", "ruleset"],
)
def test_what_strangers_send_for_admins_is_not_read(production, method, path, body):
    assert reading_seconds(production) == 0
    assert production.request(method, path, raw=body.encode()).status == 401
    assert reading_seconds(production) == 0


def test_the_tag_of_an_update_is_for_those_who_may_read(production):
    headers = {"X-Firebase-ETag": "true"}
    admin = {**headers, "Authorization": f"Bearer {production.secret}"}
    production.request("PUT", "/open.json", {"secret": 1234}, headers=admin)
    answer = production.request("PATCH", "/open.json", {"a": 1}, headers=headers)
    assert answer.status == 200
    assert "ETag" not in answer.headers
    answer = production.request("PATCH", "/open.json", {"a": 1}, headers=admin)
    assert answer.headers["ETag"]


@pytest.mark.parametrize("path", ["/", "/.health/live", "/.health/ready"])
@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
def test_what_is_only_read_takes_no_writes(dev, path, method):
    answer = dev.request(method, path, raw=b"1")
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"


def test_a_page_elsewhere_loads_no_data_as_a_script(dev):
    stranger = {"Referer": "http://evil.example/page"}
    assert dev.get("/a.json?callback=f", headers=stranger).status == 403
    assert dev.get("/a.json", headers=stranger).status == 200
    own = {"Referer": "http://localhost:3000/"}
    assert dev.get("/a.json?callback=f", headers=own).text == "/**/f(null);"


def test_a_stream_that_is_denied_while_its_value_is_measured_ends(dev):
    value = {f"k{n}": "x" * 100 for n in range(50_000)}
    assert dev.put("/large.json?print=silent", value).status == 204
    for _ in range(2):
        with Raw(dev.port) as raw:
            raw.send(request("GET", "/large.json", b"", STREAM))
            assert dev.request("PUT", "/.settings/rules.json", raw=CLOSED).status == 200
            status, _, body = raw.answer()
            assert status == 401 or body.endswith(b"event: cancel\ndata: null\n\n")
            assert raw.is_over()
        assert dev.request("PUT", "/.settings/rules.json", raw=OPEN).status == 200


# Servers that lie


class Liar:
    """Answers every connection with the next of its answers, the last one again and again."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while True:
            connection, _ = self.socket.accept()
            with connection:
                if not connection.recv(65536):
                    return
                answer = self.answers[min(self.requests, len(self.answers) - 1)]
                self.requests += 1
                connection.sendall(answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # A connection that asks for nothing is the end.
        socket.create_connection(self.socket.getsockname()).close()
        self.thread.join()
        self.socket.close()


def said(body, status=200):
    return b"HTTP/1.1 %d Said\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)


@pytest.mark.parametrize(
    "answer",
    [
        said(b"<html>hello</html>"),
        said(b""),
        said(b"{}}"),
        said(b"1 2"),
        said(b'{"a":"'),
        b"HTTP/1.1 204 Nothing\r\n\r\n",
        # Nothing says how much should come.
        b'HTTP/1.1 200 OK\r\n\r\n{"a":',
    ],
)
def test_an_answer_that_is_no_json_is_no_export(tmp_path, answer):
    with Liar(answer) as server:
        result = hearth(server, "export", "/", "-o", tmp_path / "out")
        assert result.returncode == 1
        assert os.listdir(tmp_path) == []
        assert hearth(server, "get", "/").returncode == 1


@pytest.mark.parametrize("text", [b"null", b" -1.5e3\n", b'"\\"{"', b'[{"a":"]"},[]]', b"true"])
def test_every_kind_of_value_is_exported(tmp_path, text):
    with Liar(said(text)) as server:
        assert hearth(server, "export", "/", "-o", tmp_path / "out").returncode == 0
        assert (tmp_path / "out").read_bytes().strip() == text.strip()


def test_a_server_that_gives_one_page_again_and_again_is_left(tmp_path):
    large = said(b'{"error":"Data requested exceeds the maximum size"}', 400)
    with Liar(large, said(b'{"a":1}')) as server:
        result = hearth(server, "export", "/", "-o", tmp_path / "out")
        assert result.returncode == 1
        assert b"the same page again" in result.stderr


def test_the_words_of_a_server_do_not_steer_a_terminal():
    with Liar(said(b'{"error":"\\u001b[31m\\u009bx\\u202e"}', 403)) as server:
        printed = hearth(server, "get", "/").stderr.decode()
        assert r"\u001b[31m\u009bx" in printed
    with Liar(said(b"<b>\x1b]0;title\x07</b>", 500)) as server:
        assert b"\x1b" not in hearth(server, "get", "/").stderr


def test_data_on_a_terminal_is_escaped_and_says_the_same(dev):
    text = "\u009b31m\x7f\u001bé\u0080"
    dev.put("/a.json", text)
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [BINARY, "get", "/a"], stdin=subprocess.DEVNULL, stdout=theirs, env=environment(dev)
    )
    os.close(theirs)
    shown = os.read(ours, 4096)
    assert process.wait(timeout=120) == 0
    os.close(ours)
    assert shown.startswith(b'"\\u009b31m\\u007f\\u001b\xc3\xa9\\u0080"')
    assert json.loads(shown) == text


# Files and folders that an attacker prepared


def test_an_export_follows_no_link_that_waits_for_it(dev, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "out.partial").symlink_to(victim)
    assert hearth(dev, "export", "/", "-o", tmp_path / "out").returncode == 0
    assert victim.read_text() == "precious"
    assert not (tmp_path / "out").is_symlink()
    assert (tmp_path / "out").read_text() == "null\n"


def test_a_backup_takes_no_file_that_others_could_read(dev, tmp_path):
    prepared = tmp_path / "b.partial"
    prepared.write_text("")
    prepared.chmod(0o666)
    os.link(prepared, tmp_path / "second-name")
    assert hearth(dev, "backup", tmp_path / "b").returncode == 0
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "second-name").read_bytes() == b""


def test_a_backup_does_not_take_the_place_of_a_pipe_or_a_folder(dev, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ["pipe", "folder"]:
        assert hearth(dev, "backup", tmp_path / name).returncode == 1
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(os.listdir(tmp_path)) == ["folder", "pipe"]


def test_a_restore_takes_nothing_that_others_put_in_its_way(dev, tmp_path):
    assert hearth(dev, "backup", tmp_path / "b").returncode == 0
    draft = tmp_path / "new.restoring"
    draft.mkdir()
    (draft / "admin-secret").write_text("known")
    result = hearth(dev, "restore", tmp_path / "b", "--data-dir", tmp_path / "new")
    assert result.returncode == 1
    assert b"new.restoring" in result.stderr
    (draft / "admin-secret").unlink()
    draft.rename(tmp_path / "elsewhere")
    draft.symlink_to(tmp_path / "elsewhere")
    result = hearth(dev, "restore", tmp_path / "b", "--data-dir", tmp_path / "new")
    assert result.returncode == 1
    assert os.listdir(tmp_path / "elsewhere") == []
    draft.unlink()
    result = hearth(dev, "restore", tmp_path / "b", "--data-dir", tmp_path / "new")
    assert result.returncode == 0, result.stderr


@pytest.mark.release
def test_a_file_that_may_not_grow_is_reported(dev, tmp_path):
    """The thread sanitizer keeps memory of its own in a file, which may not grow either."""
    dev.put("/a.json", "x" * 10_000)
    result = subprocess.run(
        [BINARY, "export", "/", "-o", "out"],
        cwd=tmp_path,
        env=environment(dev),
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000)),
    )
    assert result.returncode == 1
    assert b"File too large" in result.stderr
    assert os.listdir(tmp_path) == []


def test_an_import_that_has_written_nothing_leaves_no_record(dev, tmp_path):
    file = tmp_path / "a.json"
    file.write_text('{"a":')
    assert hearth(dev, "import", "/", file).returncode == 1
    assert os.listdir(tmp_path) == ["a.json"]
    file.write_text('{"a":1}')
    assert hearth(dev, "import", "/", file).returncode == 0
    assert dev.get("/a.json").json == 1


# Processes without standard streams


def shell(line, server=None):
    return subprocess.run(
        ["bash", "-c", line], env=environment(server, HEARTH=BINARY), capture_output=True, timeout=120
    )


def test_closed_standard_streams_are_not_taken_for_others(dev):
    dev.put("/a.json", 1)
    result = shell('"$HEARTH" get / >&-', dev)
    assert (result.returncode, result.stderr) == (0, b"")
    result = shell('"$HEARTH" set -f /a <&-', dev)
    assert result.returncode == 1
    assert dev.get("/a.json").json == 1


def test_a_server_without_standard_streams_starts_and_stops(tmp_path):
    project = f"streams-{os.getpid()}"
    process = subprocess.Popen(
        ["bash", "-c", 'exec "$0" "$@" <&- >&- 2>&-', BINARY, "serve", "--dev", "--port", "0"]
        + ["--data-dir", str(tmp_path / "data"), "--project", project],
        env={**environment(), "TMPDIR": str(tmp_path)},
    )
    locator = tmp_path / f"hub-{project}.json"
    while not locator.exists():
        assert process.poll() is None
    port = json.loads(locator.read_text())["port"]
    with Raw(port) as raw:
        assert raw.send(request("PUT", "/a.json", b"1")).answer()[0] == 200
    process.terminate()
    assert process.wait(timeout=120) == 0
    verified = hearth(None, "log", "verify", tmp_path / "data")
    assert verified.returncode == 0, verified.stdout
