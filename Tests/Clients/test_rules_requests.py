"""`hearth rules requests --follow`: what the rules decide, as it happens."""

import json
import signal
import urllib.parse

import pytest
from command_line import hearth, start
from hearth_server import Hearth

OWNER = {"Authorization": "Bearer owner"}
RULES = b'{"rules":{"open":{".read":true},"$other":{".read":"auth.uid === $other"}}}'


@pytest.fixture
def server():
    with Hearth() as server:
        yield prepared(server)


def prepared(server):
    assert server.request("PUT", "/.settings/rules.json", raw=RULES, headers=OWNER).status == 200
    return server


def read(server, path, uid):
    auth = urllib.parse.quote(json.dumps({"uid": uid}))
    return server.get(f"{path}.json?auth_variable_override={auth}", headers=OWNER).status


def heads(process, count):
    """The next lines that begin a request."""
    found = []
    while len(found) < count:
        line = process.stdout.readline().decode()
        assert line, "the output has ended"
        if line.startswith("#"):
            found.append(line.rstrip("\n"))
    return found


def ended(process, how=signal.SIGINT):
    process.send_signal(how)
    with process.stdout, process.stderr:
        code = process.wait(timeout=120)
        return code, process.stderr.read().decode()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_each_request_is_shown_once_until_it_is_stopped(server, how):
    read(server, "/open", "ann")
    process = start(server, "rules", "requests", "--follow")
    assert heads(process, 1)[0].endswith(' allowed read /open by "ann" over rest')
    assert read(server, "/bob", "a\n#99 b") == 401
    assert heads(process, 1)[0].endswith(' refused read /bob by "a\\n#99 b" over rest')
    read(server, "/open", "cid")
    read(server, "/open", "dan")
    assert [line.split('"')[1] for line in heads(process, 2)] == ["cid", "dan"]
    assert ended(process, how) == (0, "")


def test_it_shows_what_the_list_shows(server):
    read(server, "/bob", "ann")
    process = start(server, "rules", "requests", "--follow", "--refused")
    listed = hearth(server, "rules", "requests", "--refused").stdout
    assert process.stdout.read(len(listed)) == listed
    read(server, "/open", "ann")
    read(server, "/cid", "ann")
    assert " /cid " in heads(process, 1)[0]
    assert ended(process)[0] == 0


def test_as_json_each_is_a_line(server):
    process = start(server, "rules", "requests", "-f", "--json", "--path", "/bob")
    read(server, "/open", "ann")
    read(server, "/bob", "ann")
    request = json.loads(process.stdout.readline())
    assert (request["path"], request["allowed"], request["auth"]) == ("/bob", False, {"uid": "ann"})
    assert ended(process) == (0, "")


def test_it_goes_on_behind_a_restart_and_after_all_is_forgotten(server):
    process = start(server, "rules", "requests", "-f")
    for uid in ["ann", "bob", "cid"]:
        read(server, "/open", uid)
    heads(process, 3)
    assert server.request("DELETE", "/.inspect/requests.json").status == 200
    read(server, "/open", "dan")
    assert '"dan"' in heads(process, 1)[0]
    # The numbers begin at 1 again.
    server.flags[server.flags.index("--port") + 1] = str(server.port)
    server.stop()
    while b"trying again in" not in process.stderr.readline():
        pass
    server.start()
    read(prepared(server), "/open", "eve")
    assert heads(process, 1)[0].startswith("#1 ")
    assert ended(process)[0] == 0


def test_nothing_recorded_is_said_and_no_server_ends_it():
    with Hearth("--inspect", "off") as server:
        process = start(server, "rules", "requests", "--follow")
        assert process.stderr.readline().startswith(b"Nothing is recorded. Start the server with --inspect")
        assert ended(process) == (0, "")
    done = hearth("http://127.0.0.1:1", "rules", "requests", "--follow")
    assert done.returncode == 1 and done.stderr.startswith(b"error: ")


def test_requests_of_one_kind_are_shown(server):
    read(server, "/open", "ann")
    assert server.put("/ann.json", 1).status == 401

    def shown(*options):
        return [line.split()[2:4] for line in hearth(server, "rules", "requests", *options).stdout.decode().splitlines() if line.startswith("#")]

    assert shown() == [["allowed", "read"], ["refused", "set"]]
    assert shown("--operation", "set") == [["refused", "set"]]
    assert shown("--connection", "99") == []
    wrong = hearth(server, "rules", "requests", "--operation", "write")
    assert wrong.returncode == 1 and b"'operation' must be one of: read, listen, " in wrong.stderr
