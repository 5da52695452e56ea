"""No credential of a server goes to another host, whatever Google's libraries do with a key file (real ones, newest of PyPI)."""

import json
import os
import re
import subprocess
import sys

import pytest

from hearth_server import BINARY, ROOT
from production_server import NUMBER, Production

WATCHED = ROOT / "Tests" / "Clients" / "watched_program.py"
PAGE = ROOT / "docs" / "guides" / "SERVICE_ACCOUNTS.md"
BEGIN = """
import firebase_admin
from firebase_admin import auth, credentials, db, firestore, messaging, storage
app = firebase_admin.initialize_app(
    credentials.Certificate("backend.json"), {"databaseURL": "https://db.example.com"%s})
"""


@pytest.fixture(scope="module")
def production(tmp_path_factory):
    production = Production(tmp_path_factory.mktemp("foreign"))
    with production.server:
        production.put_rules()
        yield production


@pytest.fixture(scope="module")
def key(production):
    return production.create("backend")


def run(production, key, program):
    """Runs a program that names the example's address and key file; returns what it tried to reach, and what failed."""
    text = program.replace("https://db.example.com", production.address)
    file = production.folder / f"program-{next(NUMBER)}.py"
    file.write_text(text.replace("backend.json", str(key)).replace("PROJECT", "demo"))
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(("FIREBASE_", "GOOGLE_", "GCLOUD_"))
        and not name.upper().endswith("_PROXY")
    }
    done = subprocess.run(
        [sys.executable, WATCHED, file],
        capture_output=True,
        timeout=120,
        env={**clean, "REQUESTS_CA_BUNDLE": str(production.certificate)},
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout.splitlines()[-1])


def value(production, path):
    return production.request("GET", path, token=production.secret).json


def examples():
    """The Python examples of the page, by the names in the lines before them."""
    form = r"\*\*(Python[^*]*)\*\*(?:[^\n]*\n)(?:[^\n]+\n)*\n```python\n(.*?)```"
    return dict(re.findall(form, PAGE.read_text(), re.S))


def test_reading_and_writing_reaches_this_server_alone(production, key):
    program = BEGIN % "" + """
root = db.reference("/", app=app)
root.child("counter").set(1)
root.child("counter").transaction(lambda value: value + 1)
assert root.child("counter").get() == 2
with_key = root.child("list").push("tea")
assert root.child("list").get(shallow=True)
events = []
import threading
heard = threading.Event()
listening = root.child("counter").listen(lambda event: heard.set())
assert heard.wait(120)
listening.close()
"""
    assert run(production, key, program) == {"foreign": [], "error": None}
    assert value(production, "/counter.json") == 2


OF_GOOGLE = [
    "auth.get_user('ann', app=app)",
    "auth.create_user(email='a@example.com', app=app)",
    "auth.set_custom_user_claims('ann', {'a': 1}, app=app)",
    "auth.list_users(app=app)",
    "auth.create_session_cookie('x', 3600, app=app)",
    "auth.verify_id_token('x.y.z', app=app)",
    "messaging.send(messaging.Message(topic='t'), app=app)",
    "storage.bucket('b', app=app).blob('x').upload_from_string('x')",
    "firestore.client(app).collection('c').document('d').get()",
]
EACH = """
import json
seen = {}
for call in %r:
    try:
        eval(call)
    except Exception as error:
        seen[call] = f"{type(error).__name__}: {error}"
raise RuntimeError(json.dumps(seen))
"""


def test_what_is_google_s_own_is_refused_by_the_sdk_itself(production, key):
    seen = run(production, key, BEGIN % "" + EACH % OF_GOOGLE)
    assert seen["foreign"] == []
    refused = json.loads(seen["error"].removeprefix("RuntimeError: "))
    for call in OF_GOOGLE:
        assert re.search("(?i)project ?id|universe domain", refused.get(call, "")), (call, refused)


def test_the_watch_sees_what_leaves(production, key):
    """A project that a user names all the same; the page says not to."""
    seen = run(production, key, BEGIN % ', "projectId": "demo"' + "auth.get_user('a', app=app)")
    assert "identitytoolkit.googleapis.com" in seen["foreign"] and seen["error"]


def test_the_example_of_data_works(production, key):
    assert run(production, key, examples()["Python, data"]) == {"foreign": [], "error": None}
    assert value(production, "/topic.json") == "tea"


def test_the_example_of_accounts_works(production, key):
    program = examples()["Python, accounts"] + "\nassert user['email'] == 'ann@example.com', user\n"
    assert run(production, key, program) == {"foreign": [], "error": None}


def test_the_example_of_custom_tokens_works(production, key):
    token = production.folder / "custom-token"
    program = examples()["Python, custom tokens"] + f"\nopen({str(token)!r}, 'w').write(token)\n"
    assert run(production, key, program) == {"foreign": [], "error": None}
    answer = production.request(
        "POST",
        "/identitytoolkit.googleapis.com/v1/accounts:signInWithCustomToken?key=any",
        {"token": token.read_text(), "returnSecureToken": True},
    )
    assert answer.status == 200, answer.text


def test_the_example_of_a_guarded_key_sends_nothing_even_with_a_project(production, key):
    guarded = examples()["Python, guarded"]
    program = guarded + "\ndb.reference('topic', app=app).set('milk')\n"
    program += "assert auth.create_custom_token('ann', app=app)\n"
    assert run(production, key, program) == {"foreign": [], "error": None}
    seen = run(production, key, guarded + "\nauth.get_user('ann', app=app)\n")
    assert seen["foreign"] == [] and "identitytoolkit.googleapis.com" in seen["error"]


# Key files of before, by a backup of a server of before.

OLD = ROOT / "Tests" / "Clients" / "Specs" / "old-key"
GOOGLE = "https://oauth2.googleapis.com/token"


@pytest.fixture(scope="module")
def aged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aged")
    backup = OLD / "accounts.backup"
    subprocess.run([BINARY, "restore", backup, "--data-dir", folder / "data"], check=True)
    aged = Production(folder)
    with aged.server:
        yield aged


def old_key(aged, **members):
    account = {**json.loads((OLD / "elder.json").read_text()), "token_uri": f"{aged.address}/token"}
    account.update(members)
    file = aged.folder / f"elder-{next(NUMBER)}.json"
    file.write_text(json.dumps({name: value for name, value in account.items() if value}))
    return file


WRITE = BEGIN % "" + 'db.reference("topic", app=app).set("tea")\n'


def test_an_old_key_file_is_warned_of_once_and_listed_with_what_to_do(aged):
    for _ in range(2):
        assert aged.exchange(old_key(aged), aud=GOOGLE).status == 200
    # Requests are answered in order, so what was to be logged is in the log.
    words = [line for line in aged.log.read_text().splitlines() if "key file of an earlier" in line]
    name = json.loads(old_key(aged).read_text())["private_key_id"]
    assert len(words) == 1, words
    assert "service-account create elder --add-key" in words[0]
    assert f"service-account revoke elder --key {name}" in words[0]
    listed = aged.run("service-account", "list")
    assert f"{name} (old)".encode() in listed.stdout and b"--add-key" in listed.stderr
    keys = json.loads(aged.run("service-account", "list", "--json").stdout)["serviceAccounts"][0]["keys"]
    assert [key["ownUniverse"] for key in keys] == [False]


def test_an_old_key_file_still_works_and_is_why_there_are_new_ones(aged):
    seen = run(aged, old_key(aged), WRITE)
    assert seen["error"] is None and set(seen["foreign"]) == {"iamcredentials.googleapis.com"}


def test_an_old_key_file_can_be_mended_by_hand(aged):
    mended = old_key(aged, universe_domain="hearth.invalid", project_id=None)
    assert run(aged, mended, WRITE) == {"foreign": [], "error": None}
