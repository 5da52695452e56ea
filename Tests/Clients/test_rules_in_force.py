"""Which rules are in force, and why: said at the start, when files are read again, and by the commands about rules."""

import json
import signal

import pytest

from command_line import hearth
from hearth_server import Hearth

CLOSED = '{"rules": {".read": false, ".write": false}}'
OPEN = '{"rules": {".read": true, ".write": true}}'
NOT_USED = "is not used by database chat, which has rules of its own"


@pytest.fixture
def files(tmp_path):
    for name, text in [("file", CLOSED), ("own", OPEN), ("other", CLOSED)]:
        (tmp_path / f"{name}.json").write_text(text)
    return tmp_path


def serve(files, *flags):
    flags = ["--rules", str(files / "file.json"), "--database", "chat", *flags]
    return Hearth(
        *flags,
        dev=False,
        data=files / "data",
        log=files / "log",
    )


def command(server, files, *words, database="chat"):
    done = hearth(
        server,
        *["rules", *words, "--instance", database],
        *["--admin-secret-file", files / "data" / "admin-secret"],
        folder=files,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode(), done.stderr.decode()


def lines_since(server, seen):
    return server.log_text[seen:]


def test_the_start_says_which_rules_are_in_force(files):
    named = ["--database", f"party={files / 'other.json'}"]
    with serve(files, *named) as server:
        lines = server.log_text.splitlines()
        assert any(f"rules in force: the file {files / 'file.json'}" in line and "chat" in line for line in lines)
        assert any(f"rules in force: the file {files / 'other.json'}" in line and "party" in line for line in lines)
        assert NOT_USED not in server.log_text
    bare = Hearth(dev=False, data=files / "bare", log=files / "bare-log")
    with bare as server:
        assert "rules in force: none: everything is denied" in server.log_text


def test_a_file_that_pushed_rules_beat_is_warned_of_at_every_reading_and_start(files):
    file = files / "file.json"
    with serve(files) as server:
        output, _ = command(server, files, "push", "own.json", "--author", "ann")
        assert f"the server's file {file} is not used ('hearth rules detach' goes back to it)" in output
        seen = len(server.log_text)
        file.write_text(CLOSED + "\n")
        server.process.send_signal(signal.SIGHUP)
        server.await_log("goes back to the file")
        log = lines_since(server, seen)
        assert "rules read again" in log and NOT_USED in log
        assert "rules in force: version 1 of its own, put in force at 20" in log and "by ann" in log
        assert "hearth rules detach --instance chat" in log and str(file) in log
        assert server.get("/a.json?ns=chat").status == 200
        assert server.stop() == 0
        seen = len(server.log_text)
        server.start()
        log = lines_since(server, seen)
        assert "rules in force: version 1 of its own" in log and NOT_USED in log
        output, _ = command(server, files, "detach")
        assert f"in force: the server's file {file}" in output
        assert server.get("/a.json?ns=chat").status == 401
        seen = len(server.log_text)
        server.process.send_signal(signal.SIGHUP)
        server.await_log(f"rules in force: the file {file}")
        assert NOT_USED not in lines_since(server, seen)


def test_the_commands_say_which_rules_are_in_force(files):
    file = files / "file.json"
    with serve(files) as server:
        assert f"in force: the server's file {file}" in command(server, files, "history")[0]
        _, errors = command(server, files, "pull")
        assert f"in force: the server's file {file}" in errors
        dry, _ = command(server, files, "detach", "--dry-run")
        assert f"the server's file {file}; nothing is changed" in dry
        command(server, files, "push", "own.json", "--author", "ann")
        for output in [command(server, files, "history")[0], command(server, files, "pull")[1]]:
            assert "in force: version 1 (by ann, 20" in output
            assert f"the server's file {file} is not used ('hearth rules detach' goes back to it)" in output
        command(server, files, "detach")
        output, _ = command(server, files, "rollback", "1")
        assert f"the server's file {file} is not used" in output
        output, _ = command(server, files, "rollback", "2")
        assert f"in force: the server's file {file}" in output


def test_a_check_names_the_rules_of_each_database_without_a_server_and_beside_one(files):
    file, data = files / "file.json", files / "data"

    def check(*flags):
        flags = ["--rules", file, "--database", "chat", "--data-dir", data, *flags]
        done = hearth(None, "check", "--json", *flags, folder=files)
        found = json.loads(done.stdout)
        return done.returncode, found["facts"], found["warnings"]

    by_file = f"database chat: rules in force: the file {file}"
    not_used = (
        f"{file} is not used by database chat, which has rules of its own (version 1); "
        "'hearth rules detach --instance chat' goes back to the file"
    )
    code, facts, warnings = check("--database", f"party={files / 'other.json'}")
    assert code == 0 and by_file in facts and warnings == []
    assert f"database party: rules in force: the file {files / 'other.json'}" in facts
    assert not data.exists()
    _, facts, _ = check("--dev")
    assert f"databases that are yet to be made: rules in force: the file {file}" in facts
    with serve(files) as server:
        assert by_file in check()[1]
        command(server, files, "push", "own.json", "--author", "ann")
        for _ in range(2):
            code, facts, warnings = check()
            assert code == 0 and warnings == [not_used]
            own = [fact for fact in facts if fact.startswith("database chat: rules in force: ")]
            assert len(own) == 1 and "version 1 of its own, put in force at 20" in own[0], facts
            assert own[0].endswith(" by ann")
            # Again without the server.
            assert server.stop() == 0
        assert check("--strict")[0] == 1
        server.start()
        command(server, files, "detach")
        _, facts, warnings = check()
        assert by_file in facts and warnings == []
        server.kill()
    code, facts, warnings = check()
    assert code == 0 and by_file in facts and warnings == []
    assert not any(":accounts" in fact for fact in facts)
    # What a start would refuse is a fault here.
    (data / "FORMAT").write_text("something else")
    assert check()[0] == 2


def test_the_history_tells_programs_what_is_in_force_without_rules_of_its_own(files):
    with serve(files) as server:
        secret = (files / "data" / "admin-secret").read_text().strip()
        answer = server.get(
            "/.settings/rules_history.json?ns=chat", headers={"Authorization": f"Bearer {secret}"}
        )
        assert answer.json == {
            "versions": [],
            "withoutOwn": {"source": "file", "file": str(files / "file.json")},
            "inForce": f"the file {files / 'file.json'}",
        }
        command(server, files, "push", "own.json", "--author", "ann")
        answer = server.get(
            "/.settings/rules_history.json?ns=chat", headers={"Authorization": f"Bearer {secret}"}
        )
        assert answer.json["inForce"].startswith("version 1 of its own, put in force at 20")
        assert NOT_USED in answer.json["notUsed"] and "--instance chat" in answer.json["notUsed"]
    with Hearth() as server:
        answer = server.get("/.settings/rules_history.json?ns=any")
        assert answer.json == {
            "versions": [],
            "withoutOwn": {"source": "open"},
            "inForce": "none: open to everybody",
        }
