"""The history of rules: versions, authors, rollback, over restarts, crashes and backups."""

import json
import time

import pytest

from command_line import Answering, hearth
from hearth_server import Hearth
from signing import HMACKey, token

OWNER = {"Authorization": "Bearer owner"}
CLOSED = '{"rules": {/* closed */ ".read": false, ".write": false}}'
OPEN = '{"rules": {\n  // everybody, for now: é😀\n  ".read": true, ".write": true\n}}\n'
READ = '{"rules": {".read": true, ".write": false}}'


def push(server, text, ns="demo", **parameters):
    query = "".join(f"&{name}={value}" for name, value in parameters.items())
    path = f"/.settings/rules.json?ns={ns}{query}"
    return server.request("PUT", path, raw=text.encode(), headers=OWNER)


def detach(server, ns="demo", **parameters):
    query = "".join(f"&{name}={value}" for name, value in parameters.items())
    return server.request("DELETE", f"/.settings/rules.json?ns={ns}{query}", headers=OWNER)


def history(server, ns="demo"):
    return server.get(f"/.settings/rules_history.json?ns={ns}", headers=OWNER).json["versions"]


def version(server, number, ns="demo"):
    return server.get(f"/.settings/rules_history/{number}.json?ns={ns}", headers=OWNER)


def summary(server, ns="demo"):
    """Number, author and length of each version, the newest first; the newest alone is in force."""
    versions = history(server, ns)
    assert [entry["inForce"] for entry in versions] == [True] + [False] * (len(versions) - 1)
    return [
        (entry["number"], entry["author"], "detached" if entry.get("detached") else entry["bytes"])
        for entry in versions
    ]


def size(text):
    return len(text.encode())


# Versions


def test_each_replacement_is_a_version_with_time_author_and_text(dev):
    before = int(time.time() * 1000)
    answer = push(dev, OPEN, author="ann%20%C3%A9")
    assert answer.status == 200 and answer.json == {"status": "ok"}
    assert answer.headers["Rules-Version"] == "1"
    assert push(dev, CLOSED).headers["Rules-Version"] == "2"
    assert detach(dev, author="bob").headers["Rules-Version"] == "3"
    after = int(time.time() * 1000)
    assert summary(dev) == [(3, "bob", "detached"), (2, "owner", size(CLOSED)), (1, "ann é", size(OPEN))]
    times = [entry["time"] for entry in history(dev)]
    assert times == sorted(times, reverse=True) and before <= times[-1] and times[0] <= after
    assert version(dev, 1).text == OPEN and version(dev, 2).text == CLOSED
    gone = version(dev, 3)
    assert gone.status == 404 and "no rules of its own" in gone.json["error"]
    missing = version(dev, 9)
    assert missing.status == 404 and "1 to 3" in missing.json["error"]


def test_a_database_without_rules_has_no_history(dev):
    assert history(dev) == [] and version(dev, 1).status == 404
    assert detach(dev).headers["Rules-Version"] == "0"
    assert history(dev) == []


def test_the_very_text_in_force_makes_no_version(dev):
    assert push(dev, OPEN).headers["Rules-Version"] == "1"
    assert push(dev, OPEN, author="again").headers["Rules-Version"] == "1"
    assert push(dev, OPEN + " ").headers["Rules-Version"] == "2"
    assert [number for number, *_ in summary(dev)] == [2, 1]
    # Texts that only look alike are different ones.
    one, other = ('{"rules":{"' + key + '":{}}}' for key in ("\u00e9", "e\u0301"))
    assert push(dev, one).headers["Rules-Version"] == "3"
    assert push(dev, other).headers["Rules-Version"] == "4"


def test_dry_runs_and_refused_rules_change_nothing(dev):
    push(dev, OPEN)
    answer = push(dev, READ, dryRun="true")
    assert answer.status == 200 and "Rules-Version" not in answer.headers
    assert detach(dev, dryRun="true").status == 200
    bad = push(dev, '{"rules": {".read": "x"}}')
    assert bad.status == 400 and bad.json["errors"][0]["line"] == 1
    quoted = push(dev, json.dumps(READ))
    assert quoted.status == 400
    assert quoted.json["error"] == "1:2: Expected 'rules' property.\n"
    assert "not a JSON string" in quoted.json["errors"][0]["hint"]
    assert summary(dev) == [(1, "owner", size(OPEN))]
    assert dev.get("/.settings/rules.json?ns=demo", headers=OWNER).text == OPEN


def test_an_expected_version_keeps_two_people_apart(dev):
    assert push(dev, OPEN, expectedVersion=0, author="ann").status == 200
    late = push(dev, CLOSED, expectedVersion=0, author="bob")
    assert late.status == 412
    assert late.json["number"] == 1 and late.json["author"] == "ann" and late.json["time"] > 0
    assert "version 1 since 20" in late.json["error"] and "by ann" in late.json["error"]
    assert push(dev, CLOSED, expectedVersion=7, dryRun="true").status == 412
    assert detach(dev, expectedVersion=2).status == 412
    assert summary(dev) == [(1, "ann", size(OPEN))]
    assert detach(dev, expectedVersion=1).status == 200
    assert push(dev, OPEN, expectedVersion=2).status == 200
    for bad in ["-1", "x", "", "1.5", "9" * 30]:
        answer = push(dev, OPEN, expectedVersion=bad)
        assert answer.status == 400 and "expectedVersion" in answer.json["error"]


def test_an_author_may_begin_with_a_mark_that_joins_what_is_before_it(tmp_path):
    """A combining mark is one character with the slash before it, where names are cut by characters."""
    with Hearth(data=tmp_path / "data") as server:
        assert push(server, OPEN, author="%CC%81x").status == 200
        for end in [server.stop, server.kill]:
            assert summary(server) == [(1, "\u0301x", size(OPEN))]
            end()
            server.start()
        assert summary(server) == [(1, "\u0301x", size(OPEN))]
        assert version(server, 1).text == OPEN


def test_an_author_is_a_bounded_printable_name(dev):
    for bad in ["", "%20", "a%0Ab", "a%00", "%E2%80%AE", "a" * 201]:
        answer = push(dev, OPEN, author=bad)
        assert answer.status == 400 and "author" in answer.json["error"], bad
    assert history(dev) == []
    name = "a/b-" + "c" * 196
    assert push(dev, OPEN, author=name).status == 200
    assert push(dev, READ, author="-").status == 200
    assert [author for _, author, _ in summary(dev)] == ["-", name]


def test_the_history_is_for_admins(tmp_path):
    with Hearth(data=tmp_path / "data", dev=False) as server:
        secret = (tmp_path / "data" / "admin-secret").read_text().strip()
        admin = {"Authorization": f"Bearer {secret}"}
        for path in ["/.settings/rules_history.json", "/.settings/rules_history/1.json"]:
            assert server.get(path).status == 401
            assert server.get(path, headers=OWNER).status == 401
            assert server.put(path, 1, headers=admin).status == 405
        answer = server.request("PUT", "/.settings/rules.json", raw=OPEN.encode(), headers=admin)
        assert answer.status == 200
        versions = server.get("/.settings/rules_history.json", headers=admin).json["versions"]
        assert [entry["author"] for entry in versions] == ["admin"]


def test_an_admins_token_names_its_subject(tmp_path):
    secret = "0123456789abcdef0123456789abcdef"
    (tmp_path / "secret").write_text(secret)
    flags = ("--hs256-secret-file", str(tmp_path / "secret"))
    with Hearth(*flags, data=tmp_path / "data", dev=False) as server:
        path = "/.settings/rules.json?auth="
        legacy = {"v": 0, "iat": int(time.time()), "admin": True, "d": {"uid": "robot"}}
        for text, extra, author in [
            (OPEN, {}, "robot"), (READ, {"d": {}}, "admin"), (CLOSED, {"d": {"uid": "a\n"}}, "admin"),
        ]:
            signed = token(HMACKey(secret.encode()), {**legacy, **extra})
            assert server.request("PUT", path + signed, raw=text.encode()).status == 200
            list_path = f"/.settings/rules_history.json?auth={signed}"
            assert server.get(list_path).json["versions"][0]["author"] == author
        forged = token(HMACKey(b"x" * 32), legacy)
        assert server.request("PUT", path + forged, raw=OPEN.encode()).status == 401
        assert len(server.get(list_path).json["versions"]) == 3


def test_two_databases_have_histories_of_their_own(dev):
    push(dev, OPEN, ns="one", author="ann")
    push(dev, READ, ns="two", author="bob")
    push(dev, CLOSED, ns="two", author="bob")
    assert [author for _, author, _ in summary(dev, "one")] == ["ann"]
    assert [number for number, *_ in summary(dev, "two")] == [2, 1]


def test_the_oldest_versions_go_beyond_the_bounds(durable):
    for number in range(1, 104):
        assert push(durable, '{"rules":{"a%d":{}}}' % number).headers["Rules-Version"] == str(number)
    assert [number for number, *_ in summary(durable)] == list(range(103, 3, -1))
    assert "4 to 103" in version(durable, 3).json["error"]
    # 8 MiB in all: 32 of the longest.
    padding = " " * (256 * 1024 - 40)
    for number in range(104, 144):
        text = '{"rules":{"b%d":{}}}%s' % (number, padding)
        assert push(durable, text).headers["Rules-Version"] == str(number)
    kept = summary(durable)
    assert kept[0][0] == 143 and sum(length for _, _, length in kept) <= 8 << 20
    assert sum(length for _, _, length in kept) > (8 << 20) - (256 << 10)
    durable.kill()
    durable.start()
    assert summary(durable) == kept
    assert version(durable, 143).text == '{"rules":{"b143":{}}}%s' % padding


# Durable


def test_the_history_survives_kill_restart_and_checkpoint(durable):
    push(durable, OPEN, author="ann")
    push(durable, READ, author="bob")
    kept = history(durable)
    durable.kill()
    durable.start()
    assert history(durable) == kept
    assert durable.request("PUT", "/a.json?ns=demo", 1).status == 401
    detach(durable, author="cid")
    push(durable, CLOSED, author="dan")
    kept = history(durable)
    # An orderly stop and a start, then a crash behind it.
    assert durable.stop() == 0
    durable.start()
    assert history(durable) == kept
    push(durable, OPEN, author="eve")
    durable.kill()
    durable.start()
    assert summary(durable)[0] == (5, "eve", size(OPEN))
    assert version(durable, 4).text == CLOSED and version(durable, 2).text == READ
    assert durable.get("/.settings/rules.json?ns=demo", headers=OWNER).text == OPEN


def test_a_backup_keeps_the_history(tmp_path):
    with Hearth(data=tmp_path / "old") as server:
        push(server, OPEN, author="ann")
        push(server, READ, author="bob")
        detach(server, author="cid")
        kept = history(server)
        assert hearth(server, "backup", tmp_path / "file").returncode == 0
    assert hearth(None, "restore", tmp_path / "file", "--data-dir", tmp_path / "new").returncode == 0
    with Hearth(data=tmp_path / "new") as server:
        assert history(server) == kept
        assert version(server, 2).text == READ
        assert push(server, CLOSED).headers["Rules-Version"] == "4"


def test_a_stable_label_makes_a_version(dev):
    path = "/.settings/rulesets.json?ns=demo"
    stored = dev.request("POST", path, raw=READ.encode(), headers=OWNER).json["id"]
    labels = "/.settings/ruleset_labels.json?ns=demo"
    assert dev.put(labels + "&author=ann", {"stable": stored}, headers=OWNER).status == 200
    assert summary(dev) == [(1, "ann", size(READ))]
    assert dev.put(labels, {"stable": stored, "canary": stored}, headers=OWNER).status == 200
    assert len(history(dev)) == 1
    # Other rules take the label away: it names what is in force.
    push(dev, CLOSED)
    assert dev.get(labels, headers=OWNER).json == {"canary": stored}


# Commands


def run(server, *arguments, code=0, **options):
    result = hearth(server, "rules", *arguments, **options)
    assert result.returncode == code, (result.stdout, result.stderr)
    return result.stdout.decode(), result.stderr.decode()


@pytest.fixture
def files(tmp_path):
    for name, text in [("open", OPEN), ("read", READ), ("closed", CLOSED)]:
        (tmp_path / f"{name}.json").write_bytes(text.encode())
    (tmp_path / "bad.json").write_text('{\n  "rules": {".read": "x == 1"}\n}')
    return tmp_path


def test_push_history_rollback_pull(durable, files):
    options = ("--instance", "demo")
    output, _ = run(durable, "push", "open.json", *options, "--author", "ann", folder=files)
    assert "version 1 is in force" in output and "(demo)" in output
    output, _ = run(durable, "push", "read.json", *options, folder=files, USER="bob")
    assert "version 2 is in force" in output and "it was 1 (by ann, 20" in output
    output, _ = run(durable, "detach", *options, "--author", "cid")
    assert "version 3 is in force" in output
    output, _ = run(durable, "rollback", "1", *options, "--author", "dan")
    assert "version 4 is in force" in output
    numbers = [entry["number"] for entry in history(durable)]
    authors = [entry["author"] for entry in history(durable)]
    assert numbers == [4, 3, 2, 1]
    assert authors[0] == "dan (rollback to 1)" and authors[1] == "cid" and authors[3] == "ann"
    assert authors[2].startswith("bob@")
    output, _ = run(durable, "history", *options)
    lines = output.splitlines()
    assert lines[0].split() == ["version", "time", "author", "bytes"]
    assert lines[1].endswith("in force") and "dan (rollback to 1)" in lines[1]
    assert lines[2].endswith("-  detached") and str(size(READ)) in lines[3]
    assert json.loads(run(durable, "history", "--json", *options)[0])["versions"] == history(durable)
    # What is pulled is what was pushed, byte for byte.
    run(durable, "pull", "--output", "pulled.json", *options, folder=files)
    assert (files / "pulled.json").read_bytes() == OPEN.encode()
    output, _ = run(durable, "pull", "--version", "2", *options)
    assert output == READ
    assert json.loads(run(durable, "pull", "--strict-json", *options)[0]) == {
        "rules": {".read": True, ".write": True}
    }
    run(durable, "rollback", "3", *options)
    assert summary(durable)[0][2] == "detached"


def test_push_checks_here_first(durable, files):
    output, errors = run(durable, "push", "bad.json", code=1, folder=files)
    assert output == "" and "bad.json:2:23: error: Unknown variable 'x'." in errors and "^" in errors
    output, _ = run(durable, "push", "open.json", "--dry-run", "--instance", "demo", folder=files)
    assert "would take it; nothing is changed" in output
    assert history(durable) == []
    _, errors = run(durable, "push", "missing.json", code=1, folder=files)
    assert "missing.json" in errors
    _, errors = run("http://127.0.0.1:9", "push", "open.json", code=1, folder=files)
    assert "127.0.0.1:9" in errors


def test_push_can_expect_a_version(durable, files):
    run(durable, "push", "open.json", "--expect", "0", "--author", "ann", folder=files)
    _, errors = run(durable, "push", "read.json", "--expect", "0", code=1, folder=files)
    assert "412" in errors and "version 1 since" in errors and "by ann" in errors
    output, _ = run(durable, "push", "open.json", "--expect", "1", folder=files)
    assert "nothing is changed" in output and "version 1" in output
    _, errors = run(durable, "push", "open.json", "--expect=-1", code=2, folder=files)
    assert "expect" in errors


def test_rollback_names_the_versions_that_exist(durable, files):
    _, errors = run(durable, "rollback", "1", code=1)
    assert "there is no version 1" in errors and "keeps none" in errors
    run(durable, "push", "open.json", folder=files)
    run(durable, "push", "read.json", folder=files)
    _, errors = run(durable, "rollback", "7", code=1)
    assert "keeps 1 to 2" in errors
    output, _ = run(durable, "rollback", "2")
    assert "nothing is changed" in output
    _, errors = run(durable, "pull", "--version", "9", code=1)
    assert "404" in errors and "1 to 2" in errors


@pytest.mark.parametrize(
    "words",
    [["history"], ["push", "rules.json"], ["detach"], ["coverage", "--reset"], ["shadow", "status"], ["shadow", "reset"],
     ["explain", "read", "/a"]],
    ids=lambda words: words[0],
)
def test_a_server_that_says_null_to_everything_is_none_of_rules(words, tmp_path):
    (tmp_path / "rules.json").write_text('{"rules":{}}')
    null = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nnull"
    with Answering(null) as server:
        done = hearth(server, "rules", *words, folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"error: " + server.address.encode())
