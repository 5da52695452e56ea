"""What nodes of a group must have in common, keys and rules, and how a new node begins with a copy."""

import http.client
import os
import shutil
import time
from types import SimpleNamespace

import pytest
from certificates import Identity
from cluster_nodes import PATIENCE, Cluster
from command_line import hearth
from console_window import Console
from hearth_server import Hearth
from nats_brokers import Brokers, free_ports

RULES = '{"rules": {".read": "auth != null", ".write": "auth != null"}}'


@pytest.fixture
def brokers():
    started = Brokers(count=1)
    yield started
    started.stop()


@pytest.fixture
def cluster(brokers, tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text(RULES)
    started = Cluster(brokers, tmp_path, flags=("--rules", str(rules), "--project", "demo"), dev=False)
    yield started
    started.stop()


def words(result):
    return result.stderr.decode()


def admin(cluster, number):
    return {"Authorization": f"Bearer {(cluster.data(number) / 'admin-secret').read_text().strip()}"}


def own_keys(cluster, number):
    """What a node keeps of its keys."""
    return [(cluster.data(number) / name).read_bytes() for name in ["admin-secret", "keys/refresh-key", "keys/signing-keys.json"]]


def await_common_keys(cluster):
    deadline = time.monotonic() + PATIENCE
    while any(own_keys(cluster, number) != own_keys(cluster, cluster.owner()) for number in cluster.running()):
        assert time.monotonic() < deadline, "the nodes have different keys"
        time.sleep(0.02)


def test_tokens_of_one_node_count_at_the_next(cluster):
    first = cluster.owner()
    user = {"email": "ann@example.com", "password": "secret-word", "returnSecureToken": True}
    user = cluster.nodes[first].request("POST", "/v1/accounts:signUp?key=any", user).json
    assert cluster.nodes[first].put(f"/a.json?auth={user['idToken']}", 1).status == 200
    await_common_keys(cluster)
    assert cluster.nodes[first].stop() == 0
    second = cluster.owner()
    node = cluster.nodes[second]
    assert second != first and node.get(f"/a.json?auth={user['idToken']}").json == 1
    form = f"grant_type=refresh_token&refresh_token={user['refreshToken']}".encode()
    answer = node.request("POST", "/v1/token?key=any", raw=form, headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert answer.status == 200 and answer.json["user_id"] == user["localId"]
    # The group's secrets are in its log, sealed: a backup shows none of them.
    backup = node.get("/.backup", headers=admin(cluster, second)).body
    assert b"hgk1_" in backup
    for secret in own_keys(cluster, second):
        assert secret.strip() not in backup


def test_the_owner_knows_whose_request_a_follower_relays(cluster):
    owner = cluster.owner()
    await_common_keys(cluster)
    cluster.until_all(lambda status: "owner" in status, "an owner that every node knows")
    other = next(number for number in cluster.running() if number != owner)

    def author(port, **headers):
        """The address that the audit log has for a change that 127.0.0.9 makes."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=("127.0.0.9", 0))
        connection.request("PUT", "/.settings/rules.json?ns=default", RULES, {**admin(cluster, owner), **headers})
        assert connection.getresponse().status == 200
        connection.close()
        entries = cluster.nodes[owner].get("/.inspect/audit.json", headers=admin(cluster, owner)).json["entries"]
        return entries[0]["from"]

    assert author(cluster.ports[owner]) == "127.0.0.9"
    assert author(cluster.ports[other]) == "127.0.0.9"
    # What anybody may write does not count.
    for port in (cluster.ports[owner], cluster.ports[other]):
        assert author(port, **{"X-Forwarded-For": "203.0.113.7", "Hearth-Relay": "made-up"}) == "127.0.0.9"


def test_a_new_signing_key_reaches_every_node(cluster):
    owner = cluster.owner()
    await_common_keys(cluster)
    before = own_keys(cluster, owner)
    answer = cluster.nodes[owner].request("POST", "/.accounts/keys.json", headers=admin(cluster, owner))
    assert answer.status == 200, answer.text
    await_common_keys(cluster)
    assert own_keys(cluster, owner)[:2] == before[:2] and len(own_keys(cluster, owner)[2]) > len(before[2])


def refused(cluster, number, *changes):
    """Starts a node of its own settings and others, which must end by itself; returns its log."""
    log = cluster.folder / "refused.log"
    with pytest.raises(AssertionError, match="exit 1"):
        Hearth(*cluster.settings(number), *changes, dev=False, data=cluster.data(number), log=log)
    return log.read_text()


def test_a_node_with_another_secret_or_none_does_not_start(cluster, tmp_path):
    owner = cluster.owner()
    await_common_keys(cluster)
    other = next(number for number in cluster.running() if number != owner)
    assert cluster.nodes[other].stop() == 0
    kept = own_keys(cluster, other)
    strange = tmp_path / "strange"
    strange.touch(mode=0o600)
    strange.write_text("f" * 64)
    assert "the keys of the group do not open with the secret" in refused(cluster, other, "--cluster-secret-file", str(strange))
    strange.write_text("short")
    assert "has 5 characters; it must have 32 to 4096" in refused(cluster, other, "--cluster-secret-file", str(strange))
    strange.chmod(0o644)
    assert "600" in refused(cluster, other, "--cluster-secret-file", str(strange))
    assert own_keys(cluster, other) == kept
    # A new one learns of the keys while it runs.
    fresh, log = tmp_path / "fresh", tmp_path / "fresh.log"
    strange.chmod(0o600)
    strange.write_text("f" * 64)
    with Hearth(*cluster.settings(other), "--cluster-secret-file", str(strange), dev=False, data=fresh, log=log) as node:
        assert node.process.wait(PATIENCE) == 1
    assert "the keys of the group do not open with the secret" in log.read_text()


def test_a_data_folder_that_leaves_its_group_keeps_the_keys(cluster):
    owner = cluster.owner()
    await_common_keys(cluster)
    for number in cluster.running():
        assert cluster.nodes[number].stop() == 0
    keys = own_keys(cluster, owner)
    with Hearth("--project", "demo", dev=False, data=cluster.data(owner)) as alone:
        assert b"hgk1_" not in alone.get("/.backup", headers=admin(cluster, owner)).body
        assert own_keys(cluster, owner) == keys


def test_different_files_of_rules_are_said(cluster, tmp_path):
    owner = cluster.owner()
    await_common_keys(cluster)
    cluster.until_all(lambda status: status["rulesDiffer"] is False and len(status["nodes"]) == 2, "the same rules")
    other = next(number for number in cluster.running() if number != owner)
    assert cluster.nodes[other].stop() == 0
    different = tmp_path / "different.json"
    different.write_text('{"rules": {".read": true}}')
    flags = cluster.flags
    cluster.flags = ("--rules", str(different), "--project", "demo")
    cluster.start(other)
    cluster.until_all(lambda status: status["rulesDiffer"] is (len(status["nodes"]) == 2), "different rules")
    cluster.nodes[owner].await_log("the files of rules differ from those of another node")
    shown = hearth(cluster.nodes[owner], "cluster", "status", "--admin-secret-file", cluster.data(owner) / "admin-secret")
    assert "The nodes have different files of rules" in shown.stdout.decode(), words(shown)
    # A node reads its file again, and says so in its beats.
    different.write_text(RULES)
    cluster.until_all(lambda status: status["rulesDiffer"] is False, "the same rules again")
    cluster.flags = flags


def test_a_new_node_begins_with_a_copy_while_writes_go_on(cluster, brokers):
    """The log has lost its beginning: a node with an empty folder cannot follow it, one with a copy can."""
    owner = cluster.owner()
    await_common_keys(cluster)
    node = cluster.nodes[owner]
    for number in range(20):
        assert node.put(f"/before/k{number}.json", number, headers=admin(cluster, owner)).status == 200
    new = next(number for number in cluster.running() if number != owner)
    assert cluster.nodes[new].stop() == 0
    purged = brokers.purge("LOG_main", through=cluster.status(owner)["sequence"])
    assert purged > 0
    old, cluster.data = cluster.data, lambda number: old(number) if number != new else cluster.folder / "new"
    cluster.start(new)
    cluster.nodes[new].await_log("hearth cluster join")
    assert cluster.nodes[new].stop() == 0
    flags = ["--admin-secret-file", cluster.data(owner) / "admin-secret"]
    occupied = hearth(node, "cluster", "join", "--data-dir", cluster.data(new), *flags)
    assert occupied.returncode == 1 and "is there already and not empty" in words(occupied)
    os.rename(cluster.data(new), cluster.folder / "empty")
    joined = hearth(node, "cluster", "join", "--data-dir", cluster.data(new), *flags)
    assert joined.returncode == 0, words(joined)
    assert not list(cluster.folder.glob("*.joining*"))
    assert node.put("/after.json", "copy", headers=admin(cluster, owner)).status == 200
    cluster.start(new)
    await_common_keys(cluster)
    tree = node.get("/.json", headers=admin(cluster, owner)).json
    # None takes over that lacks a commit.
    for number in [number for number in cluster.running() if number != new]:
        assert cluster.nodes[number].stop() == 0
    assert cluster.owner() == new
    assert cluster.nodes[new].get("/.json", headers=admin(cluster, new)).json == tree
    assert tree["after"] == "copy" and tree["before"] == {f"k{number}": number for number in range(20)}


def test_a_group_that_began_with_data_takes_no_node_without_it(brokers, tmp_path):
    """The log's first entries are about another database: nothing in them shows that the data is missing."""
    with Hearth(data=tmp_path / "n0") as alone:
        assert alone.put("/kept.json", {"a": 1}).status == 200
        assert alone.stop() == 0
    founded = hearth(None, "cluster", "found", "--data-dir", tmp_path / "n0")
    assert founded.returncode == 0, words(founded)
    again = hearth(None, "cluster", "found", "--data-dir", tmp_path / "n0")
    assert again.returncode == 1 and "is of a group already" in words(again)
    cluster = Cluster(brokers, tmp_path, count=1)
    try:
        assert cluster.owner() == 0
        assert cluster.ask("PUT", "/x.json?ns=other", 1) == 1
        cluster.ports += free_ports(1)
        cluster.nodes.append(None)
        cluster.start(1)
        cluster.nodes[1].await_log("this node serves nothing from now on: entry 1 does not follow what this node has")
        cluster.nodes[1].kill()
        shutil.rmtree(cluster.data(1))
        joined = hearth(cluster.nodes[0], "cluster", "join", "--data-dir", cluster.data(1))
        assert joined.returncode == 0, words(joined)
        cluster.start(1)
        cluster.until_all(lambda status: status.get("commit") == cluster.status(0)["commit"], "the copy and what followed")
        assert cluster.nodes[0].stop() == 0
        assert cluster.owner() == 1
        assert cluster.nodes[1].get("/kept.json").json == {"a": 1}
        assert cluster.nodes[1].get("/x.json?ns=other").json == 1
    finally:
        cluster.stop()


def has_stopped(cluster, number, text):
    """Whether a node serves nothing, and says why in its log, to probes and in its figures."""
    node, deadline = cluster.nodes[number], time.monotonic() + PATIENCE
    while cluster.status(number)["role"] != "stopped":
        assert time.monotonic() < deadline, node.log_text
        time.sleep(0.02)
    assert f"this node serves nothing from now on: {text}" in node.log_text
    answer = node.get("/.health/ready")
    assert answer.status == 503 and answer.text.startswith(f"stopped: {text}")
    assert "\nhearth_cluster_stopped 1\n" in node.get("/.metrics", headers=admin(cluster, number)).text
    assert node.get("/x.json", headers=admin(cluster, number)).status == 503


def test_bytes_that_no_node_wrote_stop_every_node(cluster, brokers):
    """Who may write to the log may stop the group: what cannot be read is never skipped."""
    owner = cluster.owner()
    await_common_keys(cluster)
    entry = brokers.request(0, "log.main", b"no entry")["seq"]
    # What the owner had decided and the log does not hold is with it alone: it ends.
    assert cluster.nodes[owner].process.wait(PATIENCE) == 75
    cluster.restart_ended()
    for number in cluster.running():
        has_stopped(cluster, number, f"entry {entry} of the log is damaged")


def test_a_node_on_the_brokers_of_another_group_serves_nothing(brokers, tmp_path):
    ours = Cluster(brokers, tmp_path / "ours", count=1)
    ours.owner()
    assert ours.ask("PUT", "/x.json", 1) == 1
    assert ours.nodes[0].stop() == 0
    others = Brokers(count=1)
    theirs = Cluster(others, tmp_path / "theirs", count=1)
    try:
        theirs.owner()
        for number in range(5):
            assert theirs.ask("PUT", "/y.json", number) == number
        ours.brokers = others
        ours.start(0)
        has_stopped(ours, 0, "entry ")
        assert theirs.ask("PUT", "/y.json", 7) == 7
        assert theirs.ask("GET", "/x.json") is None
    finally:
        ours.stop()
        theirs.stop()
        others.stop()


def test_two_processes_of_one_name_are_found_out(brokers, tmp_path):
    cluster = Cluster(brokers, tmp_path, count=1)
    twin = None
    try:
        cluster.owner()
        log = tmp_path / "twin.log"
        flags = (*cluster.settings(0), "--port", "0")
        twin = Hearth(*flags, data=tmp_path / "twin", log=log)
        cluster.nodes[0].await_log("another process beats under the name of this node")
        twin.await_log("another process beats under the name of this node")
        assert cluster.ask("PUT", "/x.json", 1) == 1
    finally:
        if twin:
            twin.__exit__()
        cluster.stop()


def handover(cluster, number):
    return hearth(cluster.nodes[number], "cluster", "handover", "--admin-secret-file", cluster.data(number) / "admin-secret")


def test_an_owner_hands_over_and_comes_back_as_a_follower(cluster):
    first = cluster.owner()
    await_common_keys(cluster)
    # Any node may be asked.
    done = handover(cluster, next(number for number in cluster.running() if number != first))
    assert done.returncode == 0, words(done)
    # The service manager starts it again for this exit code.
    assert cluster.nodes[first].process.wait(PATIENCE) == 75
    assert "the group is handed over" in "".join(file.read_text() for file in (cluster.data(first) / "audit").iterdir())
    second = cluster.owner()
    assert second != first
    cluster.restart_ended()
    cluster.until_all(lambda status: status["role"] == ("owner" if status["node"] == f"n{second}" else "follower"), "one owner")


def test_a_node_without_others_keeps_the_group(brokers, tmp_path):
    cluster = Cluster(brokers, tmp_path, count=1)
    try:
        assert cluster.owner() == 0
        refused = handover(cluster, 0)
        assert refused.returncode == 1 and "No other node is heard" in words(refused)
        assert cluster.ask("PUT", "/x.json", 1) == 1
    finally:
        cluster.stop()


def check(cluster, *changes):
    return hearth(None, "cluster", "check", *cluster.settings(0), "--data-dir", cluster.data(0), *changes)


def test_brokers_are_looked_at_before_a_node_starts(brokers, tmp_path):
    places = SimpleNamespace(addresses=brokers.addresses, monitors=brokers.monitors)
    cluster = Cluster(places, tmp_path, count=0)
    cluster.ports, cluster.nodes = free_ports(1), [None]
    [address] = brokers.addresses
    fresh = check(cluster)
    assert fresh.returncode == 0, words(fresh)
    assert "syncs before it answers" in fresh.stdout.decode() and f"{address}  lets this node in, and holds no log yet" in fresh.stdout.decode()
    cluster.start(0)
    try:
        cluster.owner()
        assert f"{address}  lets this node in, and holds a log with entries 1 to " in check(cluster).stdout.decode()
    finally:
        cluster.stop()
    places.monitors = []
    assert "--cluster-monitors is not set" in words(check(cluster))
    brokers.signal(0)
    away = check(cluster)
    assert away.returncode == 1 and f"no broker of {address} answers" in words(away)


def test_the_console_shows_the_nodes_and_hands_over(browser, brokers, tmp_path):
    cluster = Cluster(brokers, tmp_path, count=2)
    try:
        owner = cluster.owner()
        cluster.until_all(lambda status: len(status["nodes"]) == 1, "both nodes")
        page = Console(browser, cluster.nodes[owner], "cluster?ns=default", width=1200, height=700)
        page.wait("document.querySelectorAll('main tbody tr').length === 2")
        page.picture(tmp_path / "cluster.png")
        assert sorted(page.texts("main tbody td:nth-child(2)")) == ["follower", "owner"]
        page.press("main .bar button", "Hand over")
        page.press("#dialog button", "Hand over")
        page.wait_text("body", "The group is handed over")
        assert cluster.nodes[owner].process.wait(PATIENCE) == 75
        assert cluster.owner() != owner
        page.close()
    finally:
        cluster.stop()


def test_brokers_are_spoken_to_over_tls(tmp_path):
    identity = Identity(tmp_path)
    user = tmp_path / "user"
    user.touch(mode=0o600)
    user.write_text("node\nright\n")
    brokers = Brokers(count=1, extra=f"""
        tls {{ cert_file: "{identity.chain}", key_file: "{identity.key}" }}
        authorization {{ users: [ {{ user: node, password: right }} ] }}
    """)
    over_tls = [address.replace("nats://127.0.0.1", "tls://localhost") for address in brokers.addresses]
    places = SimpleNamespace(addresses=over_tls, monitors=brokers.monitors)
    cluster = Cluster(places, tmp_path, count=0, flags=("--cluster-broker-user-file", str(user)))
    cluster.ports, cluster.nodes = free_ports(1), [None]
    try:
        # The system's authorities do not know it.
        cluster.start(0)
        cluster.nodes[0].await_log("is not trusted")
        assert cluster.nodes[0].get("/.health/ready").status == 503
        assert cluster.nodes[0].stop() == 0
        cluster.flags += ("--cluster-ca-file", str(identity.root))
        cluster.start(0)
        assert cluster.owner() == 0
        assert cluster.ask("PUT", "/x.json", 1) == 1
    finally:
        cluster.stop()
        brokers.stop()


def test_a_server_that_is_alone_has_nothing_to_join(tmp_path):
    with Hearth() as alone:
        refused = hearth(alone, "cluster", "join", "--data-dir", tmp_path / "new")
    assert refused.returncode == 1 and "owns no group" in words(refused)
    assert list(tmp_path.iterdir()) == []
