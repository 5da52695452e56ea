"""The page of the requests as a person uses it, in Chromium."""

import json
import urllib.parse

import pytest

from console_window import OWNER, console, put
from file_requests import BUCKET, place, signed_in
from hearth_server import Hearth


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


def requests_of(page, kind):
    """Chooses whose requests are shown."""
    field = "document.querySelector('select[aria-label=\"Requests of\"]')"
    page.wait(field)
    page.value(f"(({field}).value = {json.dumps(kind)}, ({field}).dispatchEvent(new Event('change')))")


def rows(page, count):
    page.wait(f"document.querySelectorAll('.request').length === {count}")


def rules_of(server, ns, rules):
    assert server.put(f"/.settings/rules.json?ns={ns}", rules, headers=OWNER).status == 200


def test_a_refusal_is_understood_and_tried_again(console, server):
    rules = {"rules": {"rooms": {"$room": {".read": "data.child('owner').val() === auth.uid"}}}}
    assert server.put("/.settings/rules.json?ns=why", rules, headers=OWNER).status == 200
    put(server, "rooms/r1", {"owner": "ann"}, ns="why")
    assert server.get("/rooms/r1.json?ns=why").status == 401
    page = console("requests?ns=why")
    page.press(".request.refused", "/rooms/r1")
    page.wait_text(".inspector", "data.child('owner').val()")
    page.wait_text(".inspector", '"ann"')
    page.press(".inspector a", "Try in the simulator")
    page.wait("document.getElementById('simulate-path')?.value === '/rooms/r1'")
    page.write("#simulate-auth", '{"uid":"ann"}')
    page.press(".simulator button", "Try with this text")
    page.wait_text(".simulator", "✓ allowed")
    # What is new stands there as it comes.
    page.press("#rail a", "Requests")
    page.wait("document.querySelectorAll('.request').length === 1")
    server.get("/other.json?ns=why")
    page.wait("document.querySelectorAll('.request').length === 2")


def test_what_was_not_looked_at_stands_there_once(console, server):
    rules_of(server, "passed", {"rules": {"$a": {".read": "auth != null && data.child('x').val() === auth.uid"}}})
    assert server.get("/a.json?ns=passed").status == 401
    page = console("requests?ns=passed")
    page.press(".request.refused", "/a")
    parts = "[...document.querySelectorAll('.rule-part tr')].map((row) => row.innerText.replace(/\\s+/g, ' ').trim()).join('; ')"
    page.wait(
        f"{parts} === \"auth != null && data.child('x').val() === auth.uid false; auth != null false; auth null; "
        "data.child('x').val() === auth.uid not looked at\""
    )


def test_requests_for_files_are_listed_with_their_reasons(console, server):
    rules = "rules_version = '2'; service firebase.storage { match /b/{b}/o/{user}/{f} { allow get: if request.auth.uid == user; } }"
    settings = "/.settings/rules.json?service=files"
    assert server.request("PUT", settings, raw=rules.encode(), headers=OWNER).status == 200
    page = console("requests")
    requests_of(page, "files")
    page.wait_text(".teach", "Each request for a file")
    for name in ("ann/a.png", "bob/b.png"):
        assert server.get(place(name), headers=signed_in("ann")).status == (404 if name[0] == "a" else 403)
    rows(page, 2)
    page.press(".request.refused", "bob/b.png")
    page.wait_text(".inspector h2", f"get {BUCKET}/bob/b.png")
    page.wait_text(".inspector", 'request.auth.uid is "ann"')
    # Tried again as another user.
    page.press(".inspector a", "Try in the simulator")
    page.wait("document.getElementById('try-file-path')?.value === 'bob/b.png'")
    assert page.value("document.getElementById('try-file-resource').value") == "null"
    page.write("#try-file-auth", '{"uid":"bob"}')
    page.press(".simulator button", "Try with this text")
    page.wait_text(".simulator", "✓ allowed")
    page.press("#rail a", "Requests")
    requests_of(page, "files")
    rows(page, 2)
    page.write("input.path", "ann/")
    page.key("Enter")
    rows(page, 1)
    assert "service=files" in page.value("location.search + location.hash") and "allow get line 1" in page.texts(".request .decider")[0]
    requests_of(page, "")
    page.wait("document.querySelector('input.path').placeholder.includes('/rooms')")
    server.request("DELETE", settings, headers=OWNER)


def test_requests_are_listed_by_kind_path_user_and_connection(console, server):
    rules_of(server, "listed", {"rules": {"a": {".read": True, ".write": True}, "b": {".read": "auth.uid === 'ann'"}}})
    for path in ("a", "b"):
        server.get(f"/{path}.json?ns=listed")
    server.put("/a.json?ns=listed", 1)
    page = console("requests?ns=listed")
    rows(page, 3)
    choose = "(() => {{ const field = document.querySelector({0}); field.value = {1}; field.dispatchEvent(new Event('change')); }})()"
    kind = "'[aria-label=\"Only of this kind\"]'"
    page.value(choose.format(kind, "'set'"))
    rows(page, 1)
    assert "operation=set" in page.value("location.search")
    page.value(choose.format(kind, "'listen'"))
    page.wait_text(".teach", "No request fits")
    page.value(choose.format(kind, "''"))
    rows(page, 3)
    user, place = "'[aria-label=\"Only of this user\"]'", "'[aria-label=\"Only at or below this path\"]'"
    page.value(choose.format(user, "'bob'"))
    page.wait_text(".teach", "No request fits")
    assert "uid=bob" in page.value("location.search") and "ns=listed" in page.value("location.search")
    page.value(choose.format(user, "''"))
    page.value(choose.format(place, "'/b'"))
    rows(page, 1)
    assert page.value("document.querySelector('.request .path').innerText") == "/b"
    page.value(choose.format(place, "''"))
    rows(page, 3)
    page.value("document.getElementById('refused-only').click()")
    rows(page, 1)
    page.value("document.getElementById('refused-only').click()")
    rows(page, 3)
    # The list stays while it is paused, and then goes on.
    page.press(".bar button", "Pause")
    page.wait("document.querySelector('.bar [aria-pressed=true]').textContent === 'Continue'")
    server.get("/a.json?ns=listed")
    page.press(".bar button", "Continue")
    rows(page, 4)
    # One connection: that of an observer of the console's own client, signed in as nobody.
    server.get("/b.json?ns=listed")
    rows(page, 5)
    page.value(choose.format("'[aria-label=\"Only over this connection\"]'", "'999999'"))
    page.wait_text(".teach", "No request fits")


def test_what_clients_send_is_only_ever_text(console, server):
    turned, markup = "\u202e", "<img src=x onerror=alert(1)>"
    rules_of(server, "hostile", {"rules": {"$a": {"$b": {".write": f"newData.child('owner').val() === '{turned}'"}}}})
    path = urllib.parse.quote(f"rooms/{markup}{turned}", safe="/")
    who = urllib.parse.quote(json.dumps({"uid": f"<script>alert(1)</script>\"'&{turned}"}))
    address = f"/{path}.json?ns=hostile&auth_variable_override={who}"
    assert server.put(address, {"owner": f"</code><i>{turned}"}, headers=OWNER).status == 401
    page = console("requests?ns=hostile")
    page.press(".request.refused", "rooms")
    page.wait_text(".inspector", "owner")
    assert not page.value(f"document.body.textContent.includes({json.dumps(turned)})")
    assert page.value("document.querySelectorAll('.request img, .inspector :is(img, i, script)').length") == 0


def test_a_request_is_shown_at_its_line_with_its_values(console, server):
    rules_of(server, "lines", {"rules": {"rooms": {"$room": {".read": "data.child('owner').val() === auth.uid"}}}})
    put(server, "rooms/r1", {"owner": "ann"}, ns="lines")
    assert server.get("/rooms/r1.json?ns=lines").status == 401
    page = console("requests?ns=lines")
    page.press(".request.refused", "/rooms/r1")
    page.press(".inspector a", "Show in the rules")
    page.wait_text(".note", "✕ refused read /rooms/r1")
    page.wait_text(".note", '"ann"')
    field = "document.querySelector('textarea.code')"
    page.wait(f"{field}.value.slice({field}.selectionStart).startsWith('data.child')")
    page.wait_text(".pointed", "for request #1:")
    # It stands in the simulator, to be tried with what is changed.
    page.write("textarea.code", '{"rules": {"rooms": {".read": true}}}')
    page.press(".simulator button", "Try with this text")
    page.wait_text(".simulator", "✓ allowed")
    page.press(".note a", "The request")
    page.wait_text(".inspector", "#1: refused")
    page.press(".inspector summary a", "line 1")
    page.wait_text(".note", "✕ refused read /rooms/r1")
    page.press(".note button", "Close")
    page.wait("!document.querySelector('.note')")


def test_a_request_leads_to_its_user_and_to_the_data_as_seen_by_them(console, server):
    rules_of(server, "seen", {"rules": {"rooms": {".read": "auth.token.role === 'boss'"}}})
    put(server, "rooms/r1", 1, ns="seen")
    token = '{"uid":"bob","token":{"role":"guest"}}'
    who = urllib.parse.quote(token)
    assert server.get(f"/rooms.json?ns=seen&auth_variable_override={who}", headers=OWNER).status == 401
    page = console("requests?ns=seen")
    page.press(".request.refused", "/rooms")
    page.press(".inspector a", "See as bob")
    page.wait_text(".mask", "Seen as ")
    assert json.loads(page.value("new URLSearchParams(location.search).get('as')")) == {"uid": "bob", "role": "guest"}
    page.wait("document.querySelector('.row.unreadable')")
    page.press("#rail a", "Requests")
    page.press(".request.refused", "/rooms")
    page.press(".inspector p a", "bob")
    page.wait_text(".teach", "No such user")


def test_requests_are_kept_as_cases_that_are_all_run_with_the_text_of_the_editor(console, server):
    rules = {"rules": {"rooms": {"$room": {".read": "auth.uid === 'ann'", ".write": "auth != null && newData.isNumber()"}}}}
    assert server.put("/.settings/rules.json?ns=kept", rules, headers=OWNER).status == 200
    assert server.get("/rooms/r1.json?ns=kept").status == 401
    assert server.get("/rooms/r2.json?ns=kept").status == 401
    assert server.put("/rooms/r1.json?ns=kept", 5).status == 401
    assert server.get('/rooms.json?ns=kept&orderBy="n"&limitToFirst=2').status == 401
    assert server.request("PATCH", "/rooms.json?ns=kept", {"r1/a": 1, "r2": 2}).status == 401
    page = console("requests?ns=kept")
    for kind, path, fields in (
        ("read", "/rooms/r1", {}), ("set", "/rooms/r1", {"name": "a signed-out user writes no text", "value": '"words"'}),
        ("read", "/rooms", {"name": "nor asks for all"}), ("update", "/rooms", {"name": "nor several"}),
    ):
        row = f"""[...document.querySelectorAll('.request')].find((row) => row.querySelector('.result').innerText.includes({kind!r})
            && row.querySelector('.path').innerText === {path!r})"""
        page.wait(f"({row}.click(), {row}.ariaSelected === 'true')")
        page.press(".inspector button", "Keep as a case")
        page.answers("Keep", **fields)
        page.wait("!document.querySelector('dialog')")
    page.press(".inspector a", "Who else is refused here")
    page.wait("document.querySelectorAll('.request').length === 5 && location.search.includes('refused=true')")
    page.press("#rail a", "Rules")
    names = "[...document.querySelectorAll('.cases .plain')].map((name) => name.textContent).join('; ')"
    page.wait(f"{names} === 'a signed-out user may not read /rooms/r1; a signed-out user writes no text; nor asks for all; nor several'")
    page.press(".cases .plain", "nor several")
    page.wait("document.getElementById('simulate-value').value === '{\"r1/a\":null,\"r2\":null}'")
    page.value("document.querySelector('#simulate-op').value = 'read'")
    page.write("#simulate-value", "")
    page.wait("document.querySelector('textarea.code').value.includes('auth.uid')")
    # One from the simulator, too.
    page.write("#simulate-path", "/rooms/r9")
    page.write("#simulate-auth", '{"uid":"ann"}')
    page.press(".simulator button", "Keep as a case")
    page.answers("Keep", name="ann reads a room")
    page.wait(f"{names}.endsWith('; ann reads a room')")
    page.press(".simulator button", "Run all cases")
    page.wait_text(".simulator", "5 of 5 hold with this text")
    page.write("textarea.code", '{"rules": {"rooms": {"$room": {".read": true, ".write": "auth != null"}}}}')
    page.press(".simulator button", "Run all cases")
    page.wait_text(".simulator", "4 of 5 hold with this text")
    page.wait_text(".cases .problem", "expected deny, was allowed")
    page.press(".cases button", "Remove ann reads a room")
    page.press("#dialog button", "Remove")
    page.wait("document.querySelectorAll('.cases li').length === 4")
