"""`hearth get | set | push | update | remove | watch` and what all commands on data have in common."""

import json
import os
import select
import signal
import subprocess

import pytest

from command_line import Answering, environment, hearth, on_terminal, start
from hearth_server import BINARY, ROOT, Hearth

COMMANDS = ["get", "set", "push", "update", "remove", "watch", "import", "export"]


def words(result):
    return result.stderr.decode()


def value(result):
    assert result.returncode == 0, words(result)
    return json.loads(result.stdout)


# Each command.


def test_a_value_is_set_read_updated_and_removed(dev):
    done = hearth(dev, "set", "/a", "--data", '{"x":1,"y":{"z":"ä"}}', "--force")
    assert (done.returncode, done.stdout, words(done)) == (0, b"", "")
    read = hearth(dev, "get", "/a")
    assert read.stdout == '{"x":1,"y":{"z":"ä"}}\n'.encode()
    assert hearth(dev, "update", "a", "-f", "-d", '{"y/z":2,"x":null}').returncode == 0
    assert value(hearth(dev, "get", "/")) == {"a": {"y": {"z": 2}}}
    assert hearth(dev, "remove", "/a/", "-f").returncode == 0
    assert hearth(dev, "get", "/").stdout == b"null\n"


def test_push_prints_the_key_of_the_new_child(dev):
    name = value(hearth(dev, "push", "/list", "--data", '"one"'))["name"]
    assert dev.get("/list.json").json == {name: "one"}


def test_json_comes_from_an_argument_a_file_or_standard_input(dev, tmp_path):
    file = tmp_path / "value.json"
    file.write_text('{"from":"file"}')
    assert hearth(dev, "set", "/f", file, "--force").returncode == 0
    assert hearth(dev, "set", "/i", "--force", stdin=b'{"from":"input"}').returncode == 0
    assert hearth(dev, "set", "/d", "-", "--force", stdin=b'{"from":"dash"}').returncode == 0
    assert hearth(dev, "push", "/p", stdin=b"1").returncode == 0
    found = dev.get("/.json").json
    assert [found[k]["from"] for k in "fid"] == ["file", "input", "dash"]
    assert list(found["p"].values()) == [1]


def test_a_large_body_goes_through_a_pipe(dev):
    body = json.dumps({f"k{i:05}": "x" * 1000 for i in range(20_000)}).encode()
    assert hearth(dev, "set", "/big", "-f", stdin=body).returncode == 0
    assert value(hearth(dev, "get", "/big")) == json.loads(body)


@pytest.mark.parametrize(
    "options, expected",
    [
        ([], {"a": {"n": 3}, "b": {"n": 1}, "c": {"n": 2}}),
        (["--shallow"], {"a": True, "b": True, "c": True}),
        (["--order-by", "n", "--limit-to-first", "1"], {"b": {"n": 1}}),
        (["--order-by", "n", "--start-at", "2", "--end-at", "2"], {"c": {"n": 2}}),
        (["--order-by", "n", "--equal-to", "3"], {"a": {"n": 3}}),
        (["--order-by-key", "--start-after", "b"], {"c": {"n": 2}}),
        (["--order-by-key", "--limit-to-last", "2"], {"b": {"n": 1}, "c": {"n": 2}}),
    ],
)
def test_queries_are_spelled_as_in_the_official_tool(dev, options, expected):
    rules = {"rules": {".read": True, ".write": True, "q": {".indexOn": "n"}}}
    assert dev.put("/.settings/rules.json", rules, headers={"Authorization": "Bearer owner"})
    dev.put("/q.json", {"a": {"n": 3}, "b": {"n": 1}, "c": {"n": 2}})
    assert value(hearth(dev, "get", "/q", *options)) == expected


def test_output_goes_to_a_file_that_is_whole_or_not_there(dev, tmp_path):
    dev.put("/a.json", {"b": 1})
    file = tmp_path / "out.json"
    assert hearth(dev, "get", "/a", "--pretty", "-o", file).returncode == 0
    assert json.loads(file.read_text()) == {"b": 1}
    assert "\n  " in file.read_text()
    assert hearth(dev, "get", "/a$", "--output", tmp_path / "bad.json").returncode == 1
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]
    assert hearth(dev, "get", "/a", "-o", "/dev/null").returncode == 0


def test_priorities_are_shown_on_demand(dev):
    stored = {"b": {".value": 1, ".priority": "p"}}
    dev.put("/a.json", stored)
    assert value(hearth(dev, "get", "/a")) == {"b": 1}
    assert value(hearth(dev, "get", "/a", "--export")) == stored


# Servers, databases and who asks.


def test_the_server_is_found_in_variables_and_flags(dev):
    host = dev.address.removeprefix("http://")
    dev.put("/a.json?ns=other", "other")
    for arguments, variables in [
        (["--url", dev.address, "--instance", "other"], {}),
        (["--url", host, "--ns", "other"], {}),
        (["--url", f"{dev.address}/?ns=other"], {}),
        (["--ns", "other"], {"FIREBASE_DATABASE_EMULATOR_HOST": host}),
        (["--ns", "other"], {"HEARTH_URL": dev.address, "FIREBASE_DATABASE_EMULATOR_HOST": "x:1"}),
    ]:
        assert value(hearth(None, "get", "/a", *arguments, **variables)) == "other"


def test_production_wants_a_secret_and_says_where_to_put_it(tmp_path):
    with Hearth(data=tmp_path / "data", dev=False) as server:
        secret = tmp_path / "data" / "admin-secret"
        refused = hearth(server, "get", "/")
        assert refused.returncode == 1
        assert "401" in words(refused) and "--admin-secret-file" in words(refused)
        assert refused.stdout == b""
        anonymous = hearth(server, "get", "/", "--anonymous")
        assert "Permission denied" in words(anonymous) and "HEARTH_TOKEN" in words(anonymous)
        assert hearth(server, "set", "/a", "-f", "-d", "1", "--admin-secret-file", secret).returncode == 0
        token = secret.read_text().strip()
        assert value(hearth(server, "get", "/a", HEARTH_TOKEN=token)) == 1
        assert value(hearth(server, "get", "/a", HEARTH_ADMIN_SECRET_FILE=str(secret))) == 1
        assert value(hearth(server, "get", "/a", "--token", token)) == 1
        rules = value(hearth(server, "get", "/.settings/rules", "--token-file", secret))
        assert "rules" in rules


def test_the_rules_apply_to_an_administrator_who_asks_for_it(dev):
    rules = {"rules": {"$u": {".read": "auth.uid === $u"}}}
    dev.request("PUT", "/.settings/rules.json", rules, headers={"Authorization": "Bearer owner"})
    assert hearth(dev, "get", "/ada").returncode == 0
    assert hearth(dev, "get", "/ada", "--auth-override", '{"uid":"ada"}').returncode == 0
    for other in ['{"uid":"bob"}', "null"]:
        refused = hearth(dev, "get", "/ada", "--auth-override", other)
        assert refused.returncode == 1 and "Permission denied" in words(refused)
        assert "decided for the 'auth' of --auth-override" in words(refused)
        assert "only development servers" not in words(refused)


def test_a_certificate_is_checked(tmp_path):
    pair = [tmp_path / "cert.pem", tmp_path / "key.pem"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        + ["-nodes", "-days", "1", "-subj", "/CN=localhost", "-addext"]
        + ["subjectAltName=DNS:localhost,IP:127.0.0.1", "-out", pair[0], "-keyout", pair[1]],
        check=True,
        capture_output=True,
    )
    with Hearth("--tls-cert", str(pair[0]), "--tls-key", str(pair[1])) as server:
        unknown = hearth(server, "get", "/")
        assert unknown.returncode == 1
        assert "cannot trust" in words(unknown) and "--ca-file" in words(unknown)
        known = hearth(server, "get", "/", "--ca-file", pair[0], "--token", "owner")
        assert known.stdout == b"null\n", words(known)


# What goes wrong.


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["get", "/a$b"], "400 Invalid path"),
        (["get", "/", "--order-by", "x"], "Index not defined"),
        (["set", "/a", "--force", "--data", "hello"], "Invalid data; couldn't parse JSON"),
        (["set", "/a", "--force", "--data", '{"a.b":1}'], "Key value can't be empty or contain"),
        (["update", "/a", "--force", "--data", "17"], "Invalid data"),
        (["set", "/a", "no-such-file.json", "--force"], "no-such-file.json: No such file"),
        (["set", "/a", "/", "--force"], "/: is a folder"),
        (["get", "/", "--admin-secret-file", "no-such-file"], "no-such-file: No such file"),
        (["get", "/", "--url", "http://127.0.0.1:1"], "cannot reach http://127.0.0.1:1: "),
        (["get", "/", "-o", "/no/such/folder/x"], "No such file or directory"),
        (["watch", "/a$b"], "400 Invalid path"),
        (["watch", "/", "--url", "http://127.0.0.1:1"], "cannot reach"),
        (["import", "/a", "no-such-file.json"], "no-such-file.json: No such file"),
        (["export", "/a$b"], "400 Invalid path"),
    ],
)
def test_what_is_refused_or_fails_exits_with_1_and_says_why(dev, arguments, text):
    result = hearth(dev, *arguments)
    assert result.returncode == 1
    assert words(result).startswith("error: ")
    assert text in words(result)
    assert result.stdout == b""
    assert dev.get("/.json").json is None


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["get"], "path"),
        (["get", "/", "--url", "ftp://x"], "--url: 'ftp://x'"),
        (["get", "/", "--token", "x", "--anonymous"], "give one of them"),
        (["get", "/", "--order-by", "x", "--order-by-key"], "several orders"),
        (["get", "/", "--limit-to-first", "x"], "limit-to-first"),
        (["set", "/a", "file", "--data", "1"], "give one of them"),
        (["watch", "/", "--count", "0"], "--count: 0"),
        (["import", "/"], "file"),
        (["import", "/", "x.json", "--chunk-size", "257"], "--chunk-size: must be a number from 1 to 256, not 257"),
        (["export", "/", "--format", "xml"], "xml"),
        (["completions", "tcsh"], "tcsh"),
        (["set", "/a", "--data", "1"], "--force"),
        (["update", "/a", "--data", "{}"], "--force"),
        (["remove", "/a"], "--force"),
    ],
)
def test_wrong_usage_exits_with_2_and_changes_nothing(dev, arguments, text):
    dev.put("/a.json", "kept")
    result = hearth(dev, *arguments)
    assert result.returncode == 2
    assert text in words(result)
    assert result.stdout == b""
    assert dev.get("/a.json").json == "kept"


def test_a_reader_that_has_enough_is_no_fault_to_talk_about(dev):
    dev.put("/a.json", {f"k{i}": "x" * 1000 for i in range(5000)})
    process = start(dev, "get", "/a")
    assert process.stdout.read(10)
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait(timeout=120) == 1


NO_JSON = [
    (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>", "is not a database"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", "is not JSON"),
    (b"HTTP/1.1 204 No Content\r\n\r\n", "without any JSON"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "without any JSON"),
    (b'HTTP/1.1 200 OK\r\n\r\n{"a":', "is cut short"),
    (b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"a":', "lost"),
]


@pytest.mark.parametrize("command", ["get", "export"])
@pytest.mark.parametrize("answer, text", NO_JSON)
def test_an_answer_that_is_no_whole_json_is_refused_and_no_file_left(command, answer, text, tmp_path):
    file = tmp_path / "file"
    file.write_text("before")
    with Answering(answer) as server:
        result = hearth(server, command, "/a", "-o", file)
        assert result.returncode == 1 and text in words(result), words(result)
        assert hearth(server, command, "/a").returncode == 1
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("file", "before")]


@pytest.mark.parametrize("command", ["set", "push", "remove"])
def test_a_page_to_log_in_is_no_database_to_write_to(command):
    arguments = [command, "/a", *(["--force"] if command != "push" else [])]
    arguments += [] if command == "remove" else ["--data", "1"]
    with Answering(NO_JSON[0][0]) as server:
        result = hearth(server, *arguments)
    assert result.returncode == 1 and "is not a database" in words(result)
    assert result.stdout == b""


def test_the_page_of_a_refusal_is_not_printed():
    page = b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"
    with Answering(page) as server:
        said = [words(hearth(server, *what)) for what in (["get", "/a"], ["rules", "history"])]
    for text in said:
        assert "403 (with a page: is it a database?)" in text and "<html>" not in text


def test_rules_with_comments_are_read(dev):
    rules = b'{"rules": {/* ours: "*/ ".read": true}}'
    owner = {"Authorization": "Bearer owner"}
    assert dev.request("PUT", "/.settings/rules.json", raw=rules, headers=owner).status == 200
    assert hearth(dev, "get", "/.settings/rules").stdout == rules + b"\n"


@pytest.mark.parametrize("start", [b"", b'{"a":1,"b":2}', b"{\"a\":{\"c\":1}}"])
def test_an_export_from_a_server_that_knows_no_pages_ends(start, tmp_path):
    """It is too large for one answer, and every page is the same."""
    def answer(path):
        body, status = start, b"200 OK"
        if "orderBy" not in path and "shallow" not in path:
            body = b'{"error":"The data requested exceeds the maximum size that can be accessed"}'
            status = b"400 Bad Request"
        return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)

    with Answering(answer) as server:
        result = hearth(server, "export", "/a", "-o", tmp_path / "file")
    assert result.returncode == 1
    assert ("again and again" if start else "without any JSON") in words(result)
    assert list(tmp_path.iterdir()) == []


# Files and streams that are not what they should be.


@pytest.mark.parametrize("command", ["get", "export"])
def test_a_link_under_the_drafts_name_is_not_followed(dev, tmp_path, command):
    dev.put("/a.json", 1)
    theirs, file = tmp_path / "theirs", tmp_path / "file"
    theirs.write_text("kept")
    (tmp_path / "file.partial").symlink_to(theirs)
    assert hearth(dev, command, "/a", "-o", file).returncode == 0
    assert theirs.read_text() == "kept"
    assert file.read_text() == "1\n" and not file.is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "theirs"]


def shell(server, script, *arguments):
    """Runs `script` with the program as `$0`."""
    return subprocess.run(
        ["sh", "-c", script, BINARY, *map(str, arguments)],
        capture_output=True, timeout=120, env=environment(server),
    )


def test_closed_standard_streams_are_not_taken_for_sockets(dev, tmp_path):
    dev.put("/a.json", {"b": 1})
    assert shell(dev, '"$0" get /a >&- 2>&-').returncode == 0
    kept = shell(dev, '"$0" set -f /q <&-')
    assert kept.returncode == 1 and b"400 Error: No data supplied" in kept.stderr
    file = tmp_path / "file"
    assert shell(dev, '"$0" export / -o "$1" <&- >&- 2>&-', file).returncode == 0
    assert json.loads(file.read_text()) == {"a": {"b": 1}}


def test_dev_stdout_is_standard_output(dev, tmp_path):
    dev.put("/a.json", 1)
    file = tmp_path / "file"
    assert shell(dev, '"$0" export /a -o /dev/stdout >"$1"', file).returncode == 0
    assert file.read_text() == "1\n"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_file_that_may_not_grow_is_reported_and_not_left(dev, tmp_path):
    dev.put("/a.json", "x" * 2_000_000)
    for line in ['"$0" export / -o "$1"', '"$0" backup "$1"']:
        result = shell(dev, f"ulimit -f 100; exec {line}", tmp_path / "file")
        assert result.returncode == 1 and b"File too large" in result.stderr, result
        assert list(tmp_path.iterdir()) == []


# On a terminal.


def test_words_of_a_server_do_not_drive_the_terminal():
    for body in [b'{"error":"\\u001b[31mred\\u009b2J"}', "\x1b[31mred\u009b2J".encode()]:
        head = b"HTTP/1.1 403 Forbidden\r\nContent-Length: %d\r\n\r\n" % len(body)
        with Answering(head + body) as server:
            result = hearth(server, "get", "/a")
        assert result.returncode == 1
        assert words(result).endswith(": 403 \\u001b[31mred\\u009b2J\n")


def test_data_does_not_drive_the_terminal(dev):
    text = "\x1b[31m\x7f\u0085\u009b2Jäß\u00a0"
    dev.put("/a.json", {"b": text})
    for arguments in [["get", "/a"], ["export", "/a"], ["watch", "/a", "--count", "1"]]:
        code, _, shown = on_terminal(dev, *arguments, shows_output=True)
        assert code == 0
        assert not [c for c in shown if c not in "\r\n" and (c < " " or "\x7f" <= c <= "\x9f")]
        found = json.loads(shown)
        assert found.get("data", found) == {"b": text}
        assert value(hearth(dev, *arguments)).get("b", text) == text
    code, _, shown = on_terminal(dev, "export", "/a", "--gzip", shows_output=True)
    assert code == 2 and "on a terminal" in shown


@pytest.mark.parametrize("command", ["set", "update", "remove"])
def test_a_terminal_is_asked_before_data_is_lost(dev, command):
    arguments = [command, "/a", *([] if command == "remove" else ["--data", '{"b":"new"}'])]
    dev.put("/a.json", {"b": "old"})
    code, output, shown = on_terminal(dev, *arguments, answer="no\n")
    assert (code, output) == (1, "")
    assert "Are you sure? [y/N]" in shown and f"{dev.address}/a" in shown
    assert dev.get("/a.json").json == {"b": "old"}
    code, output, shown = on_terminal(dev, *arguments, answer="y\n")
    assert (code, output) == (0, "")
    assert dev.get("/a.json").json == (None if command == "remove" else {"b": "new"})
    code, _, shown = on_terminal(dev, *arguments, "--force")
    assert code == 0 and "sure" not in shown


def test_json_can_be_typed(dev):
    code, output, shown = on_terminal(dev, "push", "/typed", answer='{"a":1}\n\x04')
    assert code == 0 and "Ctrl-D" in shown
    assert dev.get("/typed.json").json == {json.loads(output)["name"]: {"a": 1}}


# Watching.


def line(process):
    """The next line of a command's output."""
    ready = select.select([process.stdout], [], [], 20)[0]
    assert ready, "no line in 20 s"
    return json.loads(process.stdout.readline())


def test_watch_prints_a_line_for_each_event_and_ends_on_ctrl_c(dev):
    dev.put("/w.json", {"a": 1})
    with start(dev, "watch", "/w", bufsize=0) as process:
        assert line(process) == {"event": "put", "path": "/", "data": {"a": 1}}
        dev.put("/w/b.json", "two")
        assert line(process) == {"event": "put", "path": "/b", "data": "two"}
        dev.request("PATCH", "/w.json", {"a": None, "c": 3})
        assert line(process) == {"event": "patch", "path": "/", "data": {"a": None, "c": 3}}
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0
        assert process.stderr.read() == b""


def test_watch_ends_after_a_number_of_events(dev):
    dev.put("/w.json", 17)
    done = hearth(dev, "watch", "/w", "--count", "1")
    assert value(done) == {"event": "put", "path": "/", "data": 17}


def test_watch_heeds_a_query(dev):
    dev.put("/w.json", {"a": 1, "b": 2, "c": 3})
    done = hearth(dev, "watch", "/w", "--order-by-key", "--limit-to-last", "1", "--count", "1")
    assert value(done)["data"] == {"c": 3}


def test_watch_comes_back_when_the_server_does(tmp_path):
    with Hearth(data=tmp_path / "data") as server:
        server.put("/w.json", 1)
        with start(server, "watch", "/w", bufsize=0) as process:
            assert line(process)["data"] == 1
            server.kill()
            server.process.stdout.close()
            server.flags = [*server.flags, "--port", str(server.port)]
            server.start()
            assert line(process)["data"] == 1
            server.put("/w.json", 2)
            assert line(process)["data"] == 2
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=120) == 0
            assert b"trying again in" in process.stderr.read()


def test_watch_ends_when_the_rules_no_longer_allow_it(dev):
    def rules(read):
        body = {"rules": {".read": read, ".write": True}}
        answer = dev.request(
            "PUT", "/.settings/rules.json", body, headers={"Authorization": "Bearer owner"}
        )
        assert answer.status == 200

    with start(dev, "watch", "/w", "--anonymous", bufsize=0) as process:
        assert line(process)["data"] is None
        rules(False)
        dev.put("/w.json", 1)
        assert line(process) == {"event": "cancel", "data": None}
        assert process.wait(timeout=120) == 1
        assert b"no longer allow" in process.stderr.read()


# Help, completion, manual.


@pytest.mark.parametrize("command", [*COMMANDS, "completions"])
def test_help_has_examples(command):
    result = hearth(None, command, "--help")
    assert result.returncode == 0
    assert b"Examples:\n" in result.stdout and b"USAGE: hearth " in result.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_know_the_commands(shell, tmp_path):
    result = hearth(None, "completions", shell)
    assert result.returncode == 0
    for command in COMMANDS:
        assert command.encode() in result.stdout
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=result.stdout, check=True)


def test_bash_completes_commands_and_options(tmp_path):
    script = tmp_path / "hearth.bash"
    script.write_bytes(hearth(None, "completions", "bash").stdout)
    ask = """
        source "$1"; shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
        _hearth "$1" "${@: -1}" "${@: -2:1}"; printf '%s\\n' "${COMPREPLY[@]}"
    """
    for typed, expected in [(["hearth", "wat"], "watch"), (["hearth", "get", "--sh"], "--shallow")]:
        found = subprocess.run(
            ["bash", "-c", ask, "bash", script, *typed], capture_output=True, text=True
        )
        assert expected in found.stdout.split(), found.stderr


def test_the_manual_page_is_what_the_binary_says():
    script = ROOT / "scripts" / "manual-page"
    made = subprocess.run(
        [script, BINARY], capture_output=True, text=True, check=True, env=environment()
    )
    page = (ROOT / "docs" / "hearth.1").read_text()
    assert made.stdout == page, "run: make manual"
    assert os.access(script, os.X_OK)
