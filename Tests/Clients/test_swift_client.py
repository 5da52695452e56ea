"""The Swift client as another package has it: depended on by path, run against a server, and behind faults."""

import json
import os
import platform
import pty
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from fault_proxy import FAULTS, Proxies
from hearth_server import PROGRAMS, ROOT, Hearth
from signing import unsigned
from swift_consumer import BUILDS_WHOLE, Consumer, target

pytestmark = pytest.mark.release

SOURCES = ROOT / "Tests" / "Clients" / "SwiftClient"

# What SwiftPM fetched and planned is kept between runs.
SCRATCH = ROOT / ".build" / "consumers" / "client"

# What a package that depends on the client must not build.
SERVER_TARGETS = [
    "Accounts", "ArgumentParser", "Commands", "DatabaseCore",
    "DatabaseServer", "EventProtocol", "IdentityToolkit", "Logging", "Passwords", "RulesTools",
    "SecurityRules", "Simulation", "Tokens", "Transport", "CTransport",
    "WriteAheadLog", "hearth",
]


# Programs that are printed somewhere: the page, and the heading below which the first block of Swift is one.
PRINTED = {
    "quickstart": ("docs/guides/SWIFT.md", "## Quick start"),
    "readme": ("README.md", "## From Swift"),
    "firstapp": ("Sources/Client/HearthDatabase/HearthDatabase.docc/FirstApp.md", "### Watch, and write"),
    "accounts": ("Sources/Client/HearthAuth/HearthAuth.docc/HearthAuth.md", "## Overview"),
}

# The page of the services: a manifest, a program, and what may stand in functions of an app.
MANIFEST, APP, *BLOCKS = re.findall(
    r"^```swift\n(.*?)^```", (ROOT / "docs" / "guides" / "SERVICES.md").read_text(), re.DOTALL | re.MULTILINE
)


def printed(page, heading):
    """The first block of Swift below a heading."""
    text = (ROOT / page).read_text()
    below = text[text.index(heading) :]
    return re.search(r"```swift\n(.*?)```", below, re.DOTALL).group(1)


def in_functions(blocks):
    """A source of blocks: each in a function with what the page says that there is, or a function itself."""
    lines = ["import Chat", "import Foundation", "import HearthDatabase", "import Party", "import Timeline"]
    for number, block in enumerate(blocks, start=1):
        if re.match("func ", block):
            lines.append(block)
        else:
            lines += [
                f"func block{number}(database: Database, uid: String, me: UserProfile, bea: UserProfile)",
                f"async throws {{\n{block}}}",
            ]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A package in a temporary folder that depends on this one by path, built."""
    folder = tmp_path_factory.mktemp("swift-client")
    shutil.copytree(SOURCES / "scenario", folder / "Sources" / "scenario")
    # The manifest of the page, with what is under test in the place of its neighbour, and more targets.
    neighbour = 'path: "../hearth"'
    assert neighbour in MANIFEST
    manifest = MANIFEST.replace(neighbour, f'name: "hearth", path: "{ROOT}"')
    (folder / "Package.swift").write_text(manifest + (SOURCES / "Targets.swift").read_text())
    app = folder / "Sources" / "app"
    app.mkdir()
    # The server of a test has another port each time, for which nothing is built again.
    address = '"http://localhost:9000?ns=social"'
    assert address in APP
    (app / "App.swift").write_text(APP.replace(address, "CommandLine.arguments[1]"))
    blocks = folder / "Sources" / "blocks"
    blocks.mkdir()
    (blocks / "Blocks.swift").write_text(in_functions(BLOCKS))
    for program, place in PRINTED.items():
        text = printed(*place)
        sources = folder / "Sources" / program
        sources.mkdir()
        (sources / ("App.swift" if "@main" in text else "main.swift")).write_text(text)
    return Consumer(folder, SCRATCH).build()


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


def run(program, *arguments, **environment):
    done = subprocess.run(
        [str(program), *arguments], capture_output=True, text=True, timeout=300,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_quick_start_of_the_page_runs_as_it_stands(package, server):
    lines = run(package / "quickstart", HEARTH_URL=f"http://127.0.0.1:{server.port}?ns=quick")
    assert lines == "Ann: Hello, Hearth\n1 on the server\n"
    messages = list(server.get("/messages.json?ns=quick").json.values())
    assert [message["text"] for message in messages] == ["Hello, Hearth"]
    assert messages[0]["sentAt"] > 1_600_000_000_000


def test_the_program_of_the_readme_runs_as_it_stands(package, server):
    run(package / "readme", HEARTH_URL=f"http://127.0.0.1:{server.port}?ns=readme")
    messages = list(server.get("/messages.json?ns=readme").json.values())
    assert messages == [{"name": "Ann", "text": "Hello, Hearth"}]


def test_two_of_the_first_app_see_what_is_typed_in_either(package, server):
    environment = {**os.environ, "HEARTH_URL": f"http://127.0.0.1:{server.port}?ns=firstapp"}
    apps, screens = [], []
    for name in ("Ann", "Bob"):
        # A terminal, as people have it: what is printed into a pipe stays in the program for long.
        screen, terminal = pty.openpty()
        apps.append(
            subprocess.Popen(
                [str(package / "firstapp"), name],
                stdin=subprocess.PIPE, stdout=terminal, env=environment,
            )
        )
        os.close(terminal)
        screens.append(os.fdopen(screen, "rb", buffering=0))
    try:
        for app, line in zip(apps, ("Ann: Hello", "Bob: Hello yourself")):
            app.stdin.write(line.split(": ")[1].encode() + b"\n")
            app.stdin.flush()
            for screen in screens:
                assert screen.readline() == line.encode() + b"\r\n"
    finally:
        for app, screen in zip(apps, screens):
            app.kill()
            app.stdin.close()
            app.wait()
            screen.close()


def test_the_program_with_accounts_writes_what_its_user_alone_may(package, tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text('{"rules": {"users": {"$uid": {".write": "auth.uid === $uid"}}}}')
    with Hearth("--rules", str(rules)) as server:
        address = f"http://127.0.0.1:{server.port}"
        lines = run(package / "accounts", HEARTH_URL=address, XDG_STATE_HOME=str(tmp_path))
        assert lines == "ann@example.com may write\n"
        owner = {"Authorization": "Bearer owner"}
        users = server.get("/users.json", headers=owner).json
        assert list(users.values()) == [{"name": "Ann"}]


def test_the_app_of_the_services_page_follows_bea_and_writes_to_her(package, tmp_path):
    with Hearth("--rules", str(ROOT / "rules" / "social.json")) as server:
        bea = unsigned({"sub": "bea", "user_id": "bea"})
        profile = {"users/bea": {"username": "bea"}, "usernames/bea": "bea"}
        assert server.request("PATCH", f"/.json?ns=social&auth={bea}", profile).status == 200
        address = f"http://127.0.0.1:{server.port}?ns=social"
        # What the page prints: the title of the chat, and what a list shows of its last message.
        assert run(package / "app", address, XDG_STATE_HOME=str(tmp_path)) == "ann, bea ann: Hello, Bea\n"
        owner = {"Authorization": "Bearer owner"}
        social = server.get("/.json?ns=social", headers=owner).json
        [ann] = [uid for uid in social["users"] if uid != "bea"]
        assert social["followers"] == {"bea": {ann: True}}
        [[message]] = [list(chat.values()) for chat in social["messages"].values()]
        assert (message["content"], message["sender"]["uid"]) == ("Hello, Bea", ann)
        assert message["sentAt"] > 1_600_000_000_000
        # `disappear` has taken away that she is there.
        assert "presence" not in social and ann in social["lastOnline"]


def test_the_page_of_the_services_has_a_block_for_each_of_them():
    source = in_functions(BLOCKS)
    for word in ("ChatService(", "RoomService(", "PostService(", "PartyService(", "Photo(png:", "SearchService("):
        assert word in source


@pytest.mark.parametrize("module", ["HearthDatabase", "HearthAuth"])
def test_the_articles_link_to_what_is_there(module, tmp_path):
    maps = [
        f"-fmodule-map-file={path}"
        for pattern in ("System/*/module.modulemap", "System/*/include/module.modulemap")
        for path in (ROOT / "Sources").glob(pattern)
    ]
    subprocess.run(
        ["swift", "symbolgraph-extract", "-module-name", module, "-I", str(PROGRAMS / "Modules")]
        + [word for path in maps for word in ("-Xcc", path)]
        + ["-target", f"{platform.machine()}-unknown-linux-gnu", "-skip-inherited-docs"]
        + ["-minimum-access-level", "public", "-output-dir", str(tmp_path)],
        check=True, timeout=300,
    )
    done = subprocess.run(
        ["docc", "convert", str(ROOT / "Sources" / "Client" / module / f"{module}.docc")]
        + ["--additional-symbol-graph-dir", str(tmp_path)]
        + ["--output-path", str(tmp_path / "archive"), "--warnings-as-errors"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
    )
    assert done.returncode == 0, done.stdout


def test_a_package_that_depends_on_the_client_builds_nothing_of_the_server(package):
    built = package.plan.targets()
    if BUILDS_WHOLE:
        assert {target(path) for path in package.plan.made.glob("*.build/*.o")} == built
    assert {"HearthDatabase", "SyncCore", "JSONTree", "WireProtocol"} <= built
    assert {"Chat", "Timeline", "Party", "Social", "Photos"} <= built
    assert not built & set(SERVER_TARGETS)


def test_a_package_that_depends_on_the_client_needs_no_unsafe_flags():
    # SwiftPM refuses them to what is depended on by a version; by a path it lets them pass. Tests may have them: no package
    # depends on those.
    described = subprocess.run(
        ["swift", "package", "--package-path", str(ROOT), "--scratch-path", str(SCRATCH), "dump-package"],
        capture_output=True, text=True, check=True, timeout=600,
    )
    manifest = json.loads(described.stdout)
    targets = {found["name"]: found for found in manifest["targets"]}
    waiting = [name for product in manifest["products"] for name in product["targets"]]
    served = set()
    while waiting:
        name = waiting.pop()
        if name in targets and name not in served:
            served.add(name)
            needed = targets[name]["dependencies"]
            waiting += [words[0] for entry in needed for kind, words in entry.items() if kind != "product"]
    assert {"HearthDatabase", "SyncCore", "JSONTree", "Photos", "DatabaseCore"} <= served
    unsafe = [name for name in served if "unsafeFlags" in json.dumps(targets[name]["settings"])]
    assert not unsafe


def scenario(program, server, proxies, prefix):
    """Runs one client behind each proxy; gives what each saw beside what the server has."""
    targets = [
        f"{prefix}-{number}=http://127.0.0.1:{proxy.port}"
        for number, proxy in enumerate(proxies, start=1)
    ]
    results = {}
    for line in run(program, *targets).splitlines():
        result = json.loads(line)
        results[result["path"]] = result
    assert len(results) == len(proxies)
    for path, result in results.items():
        result["server"] = server.get(f"/{path}.json").json
    return results


def has_left(server, path):
    """Whether the server writes what it promised: the client is gone, and the proxy tells it a moment later."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if server.get(f"/{path}/presence.json").json == "gone":
            return True
        time.sleep(0.02)
    return False


def check(path, result):
    """The right end: each completion once, nothing lost, nothing twice, and both sides agree."""
    completions = result["completions"]
    assert len(completions) == 18, f"{path}: {sorted(completions)}"
    for name, outcomes in completions.items():
        assert len(outcomes) == 1, f"{path}: {name} was completed as {outcomes}"
    transactions = [name for name in completions if name.startswith("transaction")]
    for name in completions.keys() - set(transactions):
        assert completions[name] == ["done"], f"{path}: {name}: {completions[name]}"

    # A transaction whose answer was lost is not sent twice: the error says that its outcome is unknown.
    committed = sum(completions[name] == ["committed"] for name in transactions)
    unknown = sum("disconnect" in completions[name][0] for name in transactions)
    assert committed + unknown == len(transactions), f"{path}: {completions}"

    found = result["server"]
    assert committed <= (found.pop("counter", 0)) <= committed + unknown, f"{path}: {completions}"
    # What the server writes when it loses the client; one of the two was cancelled, perhaps after a loss.
    for name in ("presence", "other"):
        assert found.pop(name, "gone") == "gone", path
    pushed = dict(zip(result["pushed"], range(6)))
    assert found == {"a": 3, "b": 2, "list": pushed, "done": True}, path
    assert result["added"] == result["pushed"], f"{path}: each child is added once, in order"
    assert result["removed"] == [], path
    final = json.loads(result["final"])
    for name in ("counter", "presence", "other"):
        final.pop(name, None)
    assert final == found, f"{path}: the client sees what the server has"


@pytest.fixture(scope="module")
def step_count(package, server):
    """How many steps the scenario has that nothing disturbs: frames of both directions and both heads."""
    with Proxies(server.port) as proxies:
        proxy = proxies.add()
        for path, result in scenario(package / "scenario", server, [proxy], "calm").items():
            check(path, result)
            assert has_left(server, path)
            assert server.get(f"/{path}/other.json").json is None
        assert proxy.connections == 1
        return proxy.count


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_step_loses_nothing_and_doubles_nothing(package, server, step_count, fault):
    assert step_count > 20
    with Proxies(server.port) as proxies:
        disturbed = [proxies.add(fault, at) for at in range(1, step_count + 1)]
        results = scenario(package / "scenario", server, disturbed, fault.replace(" ", "-"))
        for path, result in results.items():
            check(path, result)
            # A swapped connection to the server stays open when the client needs no other.
            assert fault == "swap" or has_left(server, path), path
        # Frames may be fewer when writes go out together, so the last steps may not come.
        cuts = sum(proxy.connections > 1 for proxy in disturbed)
        assert cuts == 0 if fault == "delay" else cuts >= step_count * 3 // 4


@pytest.mark.parametrize("part", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_server_that_is_killed_and_started_again_has_what_its_clients_wrote(
    package, step_count, part, tmp_path
):
    with Hearth(data=tmp_path / "data") as server, Proxies(server.port) as proxies:
        clients = [proxies.add("tell" if number == 0 else None) for number in range(4)]
        clients[0].at = int(step_count * part)

        def restart():
            assert proxies.arrived.wait(300)
            server.kill()
            server.process.stdout.close()
            server.start()
            proxies.target = server.port

        with ThreadPoolExecutor() as pool:
            restarted = pool.submit(restart)
            results = scenario(package / "scenario", server, clients, f"killed-{part}".replace(".", "-"))
            restarted.result()
        for path, result in results.items():
            check(path, result)
        # The first is held at its step until the server is gone; others may have been done before.
        assert clients[0].connections > 1
