"""The page of the rules as a person uses it, in Chromium."""

import json
import urllib.parse

import pytest

from console_window import OWNER, Console, console, put
from hearth_server import Hearth


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


def rules_of(server, ns, text):
    answer = server.put(f"/.settings/rules.json?ns={ns}", None, raw=text.encode(), headers=OWNER)
    assert answer.status == 200, answer.text


def in_force(server, ns):
    return server.get(f"/.settings/rules.json?ns={ns}", headers=OWNER).text


FIELD = "document.querySelector('textarea.code')"


def words(kind):
    """The texts that the editor shows in the colour of a kind."""
    return f"[...document.querySelectorAll('.paint .t-{kind}')].map((each) => each.textContent).join(' ')"


def test_rules_are_edited_checked_and_published(console, server):
    page = console("rules?ns=edited")
    field = "textarea.code"
    page.wait(f"document.querySelector('{field}').value.includes('rules')")
    page.write(field, '{"rules": {".read": "auth.uid =="}}')
    page.wait_text(".faults .error", "1:")
    assert page.value("[...document.querySelectorAll('button')].find((b) => b.textContent === 'Publish').disabled")
    page.write(field, '{"rules": {".read": "auth.uid === \'ann\'"}}')
    page.wait("![...document.querySelectorAll('button')].find((b) => b.textContent === 'Publish').disabled && !document.querySelector('.faults .error')")
    page.press(".bar button", "Publish")
    page.press("#dialog button", "Publish")
    page.wait_notice("Published: they are in force")
    there = server.get("/.settings/rules.json?ns=edited", headers=OWNER).json
    assert there["rules"][".read"] == "auth.uid === 'ann'"
    page.wait_text(".history", "console")


TEXT = """{
  // who may
  "rules": {
    "rooms": {
      "$room": {
        ".read": "auth.uid === data.child('owner').val() || $room.matches(/^a\\\\.b/)"
      }
    }
  }
}
"""


def test_the_editor_has_the_colours_of_the_server_and_follows_what_is_typed(console, server):
    rules_of(server, "colours", TEXT)
    page = console("rules?ns=colours")
    page.wait(f"{words('wildcard')} === '\"$room\" $room'")
    assert page.value(words("comment")) == "// who may"
    assert page.value(words("rule")) == '".read"'
    assert page.value(words("word")) == "auth data"
    assert page.value(words("pattern")) == r"/^a\\.b/"
    assert page.value("document.querySelector('.paint:not(.marks)').textContent") == TEXT
    # Before the server has answered, the colours move with the text.
    moved = page.value(
        f"""(async () => {{
            {FIELD}.setRangeText('// new\\n', 0, 0, 'end');
            {FIELD}.dispatchEvent(new Event('input'));
            await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
            return {words('comment')};
        }})()"""
    )
    assert moved == "// who may"
    page.wait(f"{words('comment')} === '// new // who may'")
    # Characters of two units.
    page.write("textarea.code", '{"rules": {"😀": {".read": "auth == null"}}} // 😀 end')
    page.wait(f"{words('comment')} === '// 😀 end' && {words('word')} === 'auth null'")


def test_a_long_text_is_drawn_in_part_and_scrolls(console, server):
    rooms = ",\n".join(f'"r{number}": {{".read": "auth.uid === \'u{number}\' && now > {number}"}}' for number in range(2500))
    rules_of(server, "long", '{"rules": {\n' + rooms + "\n}}")
    page = console("rules?ns=long")
    page.wait(f"{words('text')}.includes(\"'u3'\")")
    assert page.value(f"{FIELD}.value.length") > 100_000
    drawn = "document.querySelector('.paint:not(.marks)').textContent.split('\\n').length"
    assert page.value(drawn) < 200
    page.value(f"void ({FIELD}.scrollTop = 19 * 2000)")
    page.wait(f"{words('text')}.includes(\"'u2003'\") && {drawn} < 200")
    page.wait("document.querySelector('.editor-box .numbers').innerText.split('\\n').includes('○ 2003')")


def test_errors_and_warnings_are_underlined_and_lead_to_their_places(console, server):
    page = console("rules?ns=faults")
    page.wait(f"{FIELD}.value.includes('rules')")
    page.write("textarea.code", '{"rules": {".read": "auth.uid === $nope"}}')
    page.wait("document.querySelector('.m-error')?.textContent === '$nope'")
    page.press(".faults .error button", "$nope")
    page.wait(f"{FIELD}.value.slice({FIELD}.selectionStart).startsWith('$nope')")
    page.write("textarea.code", '{"rules": {"a": {".read": "data.child(\'o\').val() === auth.uid"}}}')
    page.wait("document.querySelector('.m-warning') && !document.querySelector('.m-error')")
    page.wait_text(".faults .warning", "Begin with auth != null")
    page.press(".faults summary", "What null-equality means")
    page.wait_text(".faults details", "// hearth:allow null-equality")
    assert not page.value("[...document.querySelectorAll('button')].find((b) => b.textContent === 'Publish').disabled")


def test_which_rules_are_in_force_is_said_and_a_database_is_detached(browser, tmp_path):
    file = tmp_path / "file.json"
    file.write_text('{"rules": {".read": false}}')
    with Hearth("--rules", str(file)) as server:
        page = Console(browser, server, "rules?ns=main")
        page.wait_text(".main-part", f"In force: the file {file}.")
        assert not page.value("document.querySelector('.strip').checkVisibility()")
        page.write("textarea.code", '{"rules": {".read": "auth != null"}}')
        page.press(".bar button", "Publish")
        page.press("#dialog button", "Publish")
        page.wait_text(".main-part", "In force: version 1 of its own, put in force at ")
        page.wait_text(".strip", f"{file} is not used by database main, which has rules of its own (version 1)")
        page.press(".strip button", "Detach")
        page.press("#dialog button", "Detach")
        page.wait_text(".main-part", f"In force: the file {file}.")
        page.wait_gone(".strip")
        page.wait(f"{FIELD}.value === '{{\"rules\": {{\".read\": false}}}}'")
        page.wait_text(".history", "Version 2: detached")
        page.check()
        page.close()


def test_counts_stand_in_the_margin_and_at_each_part(console, server):
    rules_of(server, "margin", TEXT)
    put(server, "rooms/r1", {"owner": "ann"}, ns="margin")
    assert server.get("/rooms/r1.json?ns=margin").status == 401
    page = console("rules?ns=margin")
    signs = "[...document.querySelectorAll('.numbers span')].map((line) => line.textContent.trim()).join()"
    page.wait(f"{signs} === '− 6'")
    # With the keyboard, and with the pointer.
    page.value(f"void ({FIELD}.focus(), {FIELD}.setSelectionRange({FIELD}.value.indexOf('data.child') + 2, {FIELD}.value.indexOf('data.child') + 2))")
    page.key("ArrowRight")
    page.wait_text(".pointed", "data evaluated once: a location with children 1")
    box = page.value(
        f"""(() => {{
            const part = [...document.querySelectorAll('.paint:not(.marks) .t-word')].find((each) => each.textContent === 'auth').getBoundingClientRect();
            return [part.left + 4, part.top + 5];
        }})()"""
    )
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
    page.wait_text(".pointed", "auth evaluated once: null 1")
    page.wait("document.querySelector('.m-pointed').textContent === 'auth'")
    # The signs move with the text; a rule that is changed has none.
    page.value(f"void ({FIELD}.setRangeText('\\n', 0, 0), {FIELD}.dispatchEvent(new Event('input')))")
    page.wait(f"{signs} === '− 7'")
    page.value(f"void ({FIELD}.setRangeText('x', {FIELD}.value.indexOf('owner'), {FIELD}.value.indexOf('owner')), {FIELD}.dispatchEvent(new Event('input')))")
    page.wait(f"{signs} === ''")


def test_publishing_shows_what_differs_and_changes(console, server):
    rules_of(server, "asked", '{"rules": {\n"a": {".read": true},\n"b": {".read": false}\n}}')
    page = console("rules?ns=asked")
    page.wait(f"{FIELD}.value.includes('rules')")
    for path, name in (("/a", "a may be read"), ("/b", "b may not be read")):
        page.write("#simulate-path", path)
        page.press(".simulator button", "Keep as a case")
        page.answers("Keep", name=name)
        page.wait_text(".cases", name)
    page.write("textarea.code", '{"rules": {\n"a": {".read": true},\n"b": {".read": "data.val() == auth"}\n}}')
    page.wait_text(".faults .warning", "3:")
    page.press(".bar button", "Publish")
    page.wait_text("#dialog", "1 line is new, 1 is gone.")
    page.wait_text("#dialog .removed-line", '"b": {".read": false}')
    page.wait_text("#dialog .added-line", "data.val() == auth")
    page.wait_text("#dialog .cases", "b may not be read")
    page.wait_text("#dialog .cases", "expected deny, was allowed")
    page.wait_text("#dialog .change", "newly allowed: the rules in force refuse it")
    page.wait_text("#dialog .warning", "3:")
    page.wait_text("#dialog", "None run.")
    page.wait_text("#dialog", "As before: who could read or write the whole database still can")
    assert "a may be read" not in page.value("document.querySelector('#dialog').innerText")
    page.press("#dialog button", "Cancel")
    page.wait("!document.querySelector('dialog')")
    assert "data.val()" not in in_force(server, "asked")
    page.write("textarea.code", '{"rules": {".read": "auth != null"}}')
    page.press(".bar button", "Publish")
    page.wait_text("#dialog", "Any user can then read the whole database.")
    assert "Who has not signed in" not in page.value("document.querySelector('#dialog').innerText")
    page.press("#dialog button", "Publish")
    page.wait_notice("Published")
    page.write("textarea.code", '{"rules": {}}')
    page.press(".bar button", "Publish")
    page.wait_text("#dialog", "Any user can read the whole database now, and no longer then")
    page.press("#dialog button", "Cancel")
    page.wait("!document.querySelector('dialog')")
    # Another one publishes meanwhile.
    rules_of(server, "asked", '{"rules": {}}')
    page.press(".bar button", "Publish")
    page.press("#dialog button", "Publish")
    page.wait_notice("Not published: The rules are at version 3", "alerts")
    assert in_force(server, "asked") == '{"rules": {}}'


def test_what_is_typed_stays_while_another_page_is_looked_at(console, server):
    page = console("rules?ns=draft")
    page.wait(f"{FIELD}.value.includes('rules')")
    page.write("textarea.code", '{"rules": {}} // mine')
    page.press("#rail a", "Requests")
    page.wait_text(".teach", "No request yet")
    page.press("#rail a", "Rules")
    page.wait(f"{FIELD}.value === '{{\"rules\": {{}}}} // mine'")
    page.wait("![...document.querySelectorAll('button')].find((b) => b.textContent === 'Publish').disabled")
    page.press(".bar button", "Read anew")
    page.wait(f"!{FIELD}.value.includes('mine')")


def test_shadow_rules_meet_real_requests_and_nothing_depends_on_them(console, server):
    rules_of(server, "shadow", '{"rules": {"a": {".read": true}, "b": {".read": false}}}')
    page = console("rules?ns=shadow")
    page.wait(f"{FIELD}.value.includes('rules')")
    page.write("textarea.code", '{"rules": {"a": {".read": "auth != null"}, "b": {".read": true}}}')
    page.press(".simulator button", "Try this text beside them")
    page.wait_text(".simulator", "Of 0 requests")
    assert server.get("/a.json?ns=shadow").status == 200
    assert server.get("/b.json?ns=shadow").status == 401
    page.wait_text(".simulator", "Of 2 requests since just now: 1 newly allowed, 1 newly refused.")
    page.wait_text(".shadowed", "/a .read line 1: true")
    page.press(".bar button", "Publish")
    page.wait_text("#dialog", "This text runs as shadow rules. Of 2 requests")
    page.press("#dialog button", "Cancel")
    page.press(".simulator button", "Stop")
    page.wait("[...document.querySelectorAll('.simulator button')].some((button) => button.innerText === 'Try this text beside them')")
    labels = server.get("/.settings/ruleset_labels.json?ns=shadow", headers=OWNER).json
    assert "canary" not in labels
    assert '"a": {".read": true}' in in_force(server, "shadow")


def test_versions_are_compared_and_one_is_gone_back_to(console, server):
    for number in (1, 2, 3):
        rules_of(server, "versions", '{"rules": {\n"a": {".read": "now > %d"}\n}}' % number)
    page = console("rules?ns=versions")
    newest = "document.querySelector('.history li')?.textContent"
    page.wait(f"{newest}.startsWith('Version 3 in force')")
    page.value("void (document.querySelector('[aria-label=\"Compare from\"]').value = '1', document.querySelector('[aria-label=\"Compare to\"]').value = '3')")
    page.press(".simulator .bar button", "Compare")
    page.wait_text("#dialog h2", "From version 1 to version 3")
    page.wait_text("#dialog .removed-line", "now > 1")
    page.wait_text("#dialog .added-line", "now > 3")
    page.press("#dialog button", "Close")
    page.wait("!document.querySelector('dialog')")
    page.press(".history button", "Go back version 1")
    page.wait_text("#dialog .added-line", "now > 1")
    page.press("#dialog button", "Go back")
    page.wait(f"{newest}.startsWith('Version 4 in force console (rollback to 1)')")
    assert "now > 1" in in_force(server, "versions")
    page.wait(f"{FIELD}.value.includes('now > 1')")


COVERED = """{"rules": { "posts": { "$post": {
  ".read": "auth != null && (data.child('open').val() == true ||
    auth.uid == $post)",
  ".write": true, ".validate": "newData.val() > 5" /* <b>\u202e</b> */,
  "never": {".validate": "newData.isString()"}
}}}}
"""


def use(server, path, uid=None, value=None):
    """A request of a user, which the rules decide."""
    who = "" if uid is None else "&auth_variable_override=" + urllib.parse.quote(json.dumps({"uid": uid}))
    headers = {} if uid is None else OWNER
    address = f"/{path}.json?ns=covered{who}"
    server.get(address, headers=headers) if value is None else server.put(address, value, headers=headers)


def test_coverage_says_of_each_part_how_often_and_which_values(console, server):
    rules = server.put("/.settings/rules.json?ns=covered", None, raw=COVERED.encode(), headers=OWNER)
    assert rules.status == 200, rules.text
    put(server, "posts/p1/open", True, ns="covered")
    put(server, "posts/p2", {"open": False}, ns="covered")
    for path, uid, value in (("p1", "ann", None), ("p2", "p2", None), ("p1", None, None), ("p3", "ann", 6), ("p3", "ann", "six")):
        use(server, f"posts/{path}", uid, value)
    page = console("rules?ns=covered")
    page.press(".bar button", "Coverage")
    marks = "[...document.querySelectorAll('.rule')].map((rule) => `${rule.className} ${rule.dataset.times}`).join()"
    page.wait(f"{marks} === 'rule both 3,rule only-true 2,rule errors 2,rule never 0'")
    assert "coverage=true" in page.value("location.search")
    # The text is whole, and what is hidden in it is seen.
    shown = page.value("document.querySelector('.code-box code').textContent")
    assert shown == COVERED.replace("\u202e", "[U+202E]")
    assert page.value("[...document.querySelectorAll('.coverage .numbers span')].map((line) => line.textContent.trim()).join()") == "± 2,! 4,○ 5"
    head = page.value("document.querySelector('.coverage header').innerText.replace(/\\s+/g, ' ')")
    assert "rules consulted 3 of 4" in head and "parts evaluated 15 of 17" in head and "decisions 5" in head
    page.wait_text(".coverage-side details", "/posts/$post/never")
    # By keyboard: the rule, its first part, the part in that; and the next rule.
    counts = "document.querySelector('.counts').innerText.replace(/\\s+/g, ' ')"
    page.value("document.querySelector('.rule').focus()")
    for key, text in (
        (None, "± read /posts/$post line 2, consulted 3 times: true and false true 2 false 1"),
        ("ArrowRight", "auth != null line 2, evaluated 3 times true 2 false 1"),
        ("ArrowRight", "auth line 2, evaluated 3 times an object 2 null 1"),
        ("ArrowDown", "+ write /posts/$post line 4, consulted twice: only true true 2"),
        ("ArrowDown", "! validate /posts/$post line 4, consulted twice: errors true 1 a string cannot be ordered against a number. 1"),
        ("End", "newData line 5, its rule was never consulted"),
    ):
        if key:
            page.key(key)
        page.wait(f"{counts} === {json.dumps(text)}")
    # By pointer.
    point = "[...document.querySelectorAll('.part')].find((part) => part.textContent === {0}).dispatchEvent(new PointerEvent('pointerover', {{ bubbles: true }}))"
    page.value(point.format(json.dumps("auth.uid == $post")))
    page.wait_text(".counts", "evaluated once, not needed twice")
    page.press(".coverage-side button", "/posts/$post/never")
    page.wait_text(".counts", "never consulted")
    page.press(".buttons button", "Count anew")
    page.wait(f"{marks} === 'rule never 0,rule never 0,rule never 0,rule never 0'")
    assert server.put("/.inspect/level.json", "refused", headers=OWNER).status == 200
    page.press(".bar button", "Read anew")
    page.wait_text(".strip", "nothing is counted now")
    page.press(".buttons button", "Count all decisions")
    page.wait_gone(".strip")
    page.press(".bar button", "Coverage")
    page.wait("document.querySelector('textarea.code').checkVisibility()")
