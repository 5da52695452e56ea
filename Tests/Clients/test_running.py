"""What a server tells its administrators about itself: databases, settings, its log, its state, a backup that is sent in."""

import json

import pytest

from command_line import hearth
from hearth_server import Hearth

OWNER = {"Authorization": "Bearer owner"}
ROUTES = ["state", "history", "log", "settings", "connections", "database_figures"]


@pytest.fixture
def server(tmp_path):
    with Hearth(data=tmp_path / "data", log=tmp_path / "log") as server:
        yield server


def ask(server, name, query=""):
    answer = server.get(f"/.inspect/{name}.json?{query}", headers=OWNER)
    assert answer.status == 200, answer.text
    return answer.json


def test_in_production_they_are_for_administrators_alone(tmp_path):
    with Hearth(dev=False, data=tmp_path / "data") as server:
        secret = (tmp_path / "data" / "admin-secret").read_text().strip()
        for name in ROUTES:
            assert server.get(f"/.inspect/{name}.json").status == 401, name
            assert server.get(f"/.inspect/{name}.json", headers=OWNER).status == 401, name
            assert server.get(f"/.inspect/{name}.json", headers={"Authorization": f"Bearer {secret}"}).status == 200
        assert server.request("POST", "/.inspect/backup_check.json", raw=b"x" * 100_000).status == 401
        assert server.request("POST", "/.inspect/databases.json", {"name": "new"}).status == 401
        made = server.request("POST", "/.inspect/databases.json", {"name": "new"}, {"Authorization": f"Bearer {secret}"})
        assert made.status == 403 and "--database new" in made.text


def test_the_state_has_what_one_has_to_know(server, tmp_path):
    state = ask(server, "state")
    assert state["mode"] == "development" and state["isReady"] is True
    assert state["since"] <= state["now"] and state["memory"] > 1_000_000
    assert state["disk"]["free"] > state["disk"]["reserve"] > 0
    assert [note["text"] for note in state["notes"]] == ["development: open to this machine"]


def test_a_rules_file_that_is_not_used_is_a_note(tmp_path):
    (tmp_path / "rules.json").write_text('{"rules":{".read":true}}')
    with Hearth("--rules", str(tmp_path / "rules.json")) as server:
        assert server.put("/.settings/rules.json?ns=default", None, raw=b'{"rules":{}}', headers=OWNER).status == 200
        notes = {note["kind"]: note["text"] for note in ask(server, "state")["notes"]}
        assert "rules.json is not used by database default, which has rules of its own (version 1)" in notes["warning"]


def test_the_history_names_each_figure(server):
    history = ask(server, "history")
    assert (history["every"], history["limit"]) == (10, 360)
    assert {"time", "reads", "commits", "put99", "longestTick"} <= set(history["names"])
    assert all(len(sample) == len(history["names"]) for sample in history["samples"])


def test_settings_say_where_they_come_from(server):
    found = {each["name"]: each for each in ask(server, "settings")["settings"]}
    assert found["port"] == {"name": "port", "value": "0", "place": "--port"}
    assert found["durability"] == {"name": "durability", "value": "always", "place": "default"}


def test_no_setting_shows_a_secret(tmp_path):
    (tmp_path / "secret").write_text("s" * 40)
    (tmp_path / "secret").chmod(0o600)
    hook = ["--accounts-webhook", "http://127.0.0.1:9/hook?token=planted-secret"]
    hook += ["--accounts-webhook-secret-file", str(tmp_path / "secret")]
    with Hearth(*hook) as server:
        text = server.get("/.inspect/settings.json", headers=OWNER).text
        assert "planted-secret" not in text and "s" * 40 not in text and "http://127.0.0.1:9/..." in text


# The log


def test_the_log_has_the_lines_of_standard_error_with_filters(server):
    server.request("POST", "/.inspect/databases.json", {"name": "shop"}, OWNER)
    server.await_log("a database is made")
    answer = ask(server, "log")
    (made,) = [line for line in answer["lines"] if line["message"] == "a database is made"]
    assert made["level"] == "notice" and made["metadata"]["database"] == "shop" and made["number"] <= answer["last"]
    assert [line["number"] for line in answer["lines"]] == list(range(1, answer["last"] + 1))
    for line in answer["lines"]:
        assert line["message"].split("\n")[0] in server.log_text
    assert made in ask(server, "log", "text=DATABASE%20is%20made")["lines"]
    assert made in ask(server, "log", "database=shop")["lines"]
    assert ask(server, "log", "database=shop&level=critical")["lines"] == []
    assert ask(server, "log", f"after={answer['last']}")["lines"] == []
    assert len(ask(server, "log", "limit=1")["lines"]) == 1
    for query in ("level=loud", "after=x", "limit=0", "limit=2001"):
        assert server.get(f"/.inspect/log.json?{query}", headers=OWNER).status == 400, query


# Databases


def test_databases_have_size_rules_indexes_and_listens(server):
    rules = {"rules": {".read": True, ".write": True, "list": {".indexOn": "age"}}}
    server.put("/.settings/rules.json?ns=shop", rules, headers=OWNER)
    server.put("/list.json?ns=shop", {"a": {"age": 3}, "b": {"age": 1}})
    assert list(server.get('/list.json?ns=shop&orderBy="age"&limitToFirst=1').json) == ["b"]
    (shop,) = [each for each in ask(server, "database_figures")["databases"] if each["name"] == "shop"]
    # The root, the list, two records, two ages.
    assert shop["nodes"] == 6 and 10 < shop["bytes"] < 100
    assert shop["rules"]["source"] == "own" and shop["rules"]["version"] == 1
    (index,) = shop["indexes"]
    assert index["path"].strip("/") == "list" and (index["order"], index["entries"], index["isDeclared"]) == ("age", 2, True)


def test_a_database_is_made_once_and_stays(server, tmp_path):
    assert server.request("POST", "/.inspect/databases.json", {"name": "shop"}, OWNER).json == {"name": "shop"}
    assert server.request("POST", "/.inspect/databases.json", {"name": "shop"}, OWNER).status == 409
    for body in ({"name": "Not A Name"}, {"name": ""}, {"name": 7}, {}, [], "x"):
        assert server.request("POST", "/.inspect/databases.json", body, OWNER).status == 400, body
    assert {"name": "shop"} in server.get("/.inspect/databases.json").json
    server.kill()
    server.process.stdout.close()
    server.start()
    assert {"name": "shop"} in server.get("/.inspect/databases.json").json


def test_the_command_lists_and_makes_databases(server):
    assert hearth(server, "databases", "create", "shop").stdout == b"made the database shop\n"
    server.put("/a.json?ns=shop", {"b": 1})
    done = hearth(server, "databases")
    assert done.returncode == 0, done.stderr
    head, *rows = done.stdout.decode().splitlines()
    assert head.split() == ["database", "bytes", "nodes", "commits", "listens", "indexes", "rules"]
    (shop,) = [row.split() for row in rows if row.startswith("shop ")]
    assert shop[2:] == ["3", "2", "0", "0", "open"]
    assert json.loads(hearth(server, "databases", "list", "--json").stdout)["databases"]
    assert hearth(server, "databases", "create", "shop").returncode == 1


# Backups


def test_a_backup_that_is_sent_in_is_read_to_its_last_node(server):
    server.put("/a.json?ns=shop", {"b": list(range(100))})
    backup = server.get("/.backup", headers=OWNER).body
    check = lambda raw: server.request("POST", "/.inspect/backup_check.json", raw=raw, headers=OWNER)
    good = check(backup).json
    assert good["isGood"] is True and "shop" in good["databases"] and good["bytes"] == len(backup)
    for bad in (backup[:-1], b"", b"no backup", backup[:100] + bytes([backup[100] ^ 1]) + backup[101:], backup + b"x"):
        answer = check(bad)
        assert answer.status == 200 and answer.json["isGood"] is False and answer.json["text"]
    # What is sent in is kept nowhere.
    assert server.get("/.backup", headers=OWNER).status == 200


def test_a_backup_beyond_the_limit_of_bodies_is_refused(tmp_path):
    with Hearth("--max-body", "65536") as server:
        answer = server.request("POST", "/.inspect/backup_check.json", raw=bytes(70_000), headers=OWNER)
        assert answer.status == 400 and "maximum size" in answer.text, answer.text
