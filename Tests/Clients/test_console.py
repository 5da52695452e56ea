"""The console as a person uses it, in Chromium: each window fails on any error, policy violation or outside request."""

import http.client
import json
import re
import subprocess
import time

import pytest

from console_window import OWNER, Console, console, put, read
from hearth_server import ROOT, Hearth
from sample_pages import contrast_faults

PAGES = ROOT / "Sources" / "Server" / "CPages" / "Pages" / "console"
COLOURS = PAGES.parent / "colours.css"
LEVEL = "document.querySelector('.row[aria-selected=true]')"


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


# The door


def led_to(server, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers["Location"]


def test_browsers_are_led_to_it_and_tools_are_not(server):
    browsers = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    assert led_to(server, "/", Accept=browsers) == (302, "/.console/")
    hostile = "/.inspect/requests?ns=demo&refused=true&auth=owner&path=/a%20b%26%3Cx%3E%22"
    kept = "/.console/requests?ns=demo&refused=true&path=%2Fa%20b%26%3Cx%3E%22"
    assert led_to(server, hostile, Accept=browsers, **OWNER) == (302, kept)
    for accept in ("*/*", "application/json", ""):
        assert server.get("/", headers={"Accept": accept}).json["port"] == server.port


def test_its_files_are_kept_for_long_under_names_of_their_own(server):
    page = server.get("/.console/data/any/where?ns=x")
    assert page.headers["Cache-Control"] == "no-cache" and "unsafe" not in page.headers["Content-Security-Policy"]
    files = set(re.findall(r"/\.console/-/[0-9a-f]{16}/[\w.]+", page.text))
    assert len(files) == 2
    folder = files.pop().rpartition("/")[0]
    total = len(page.body)
    for file in sorted(PAGES.glob("*.*s")):
        answer = server.get(f"{folder}/{file.name}")
        # The style begins with the colours that the sample pages have too.
        assert answer.body == (COLOURS.read_bytes() if file.name == "console.css" else b"") + file.read_bytes(), file
        assert answer.headers["Cache-Control"] == "max-age=31536000, immutable"
        total += len(answer.body)
    assert total <= 400_000
    assert server.get("/.console/-/0123456789abcdef/console.js").status == 404
    assert server.get(f"{folder}/nothing.js").status == 404


def test_no_file_makes_markup_of_text():
    for file in PAGES.glob("*.js"):
        forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser"
        assert not re.search(forbidden, file.read_text()), file


# Data


def test_what_others_write_appears_and_goes(console, server):
    put(server, "live", {"a": 1})
    page = console("data/live?ns=default")
    page.shows("a", "1")
    put(server, "live/b", "two")
    page.shows("b", '"two"')
    page.wait(f"{page.row('b')}.classList.contains('added')")
    put(server, "live/a", 5)
    page.shows("a", "5")
    page.wait("document.querySelector('.count').textContent === '2 children'")
    assert server.request("DELETE", "/live/b.json?ns=default", headers=OWNER).status == 200
    page.wait(f"!{page.row('b')}")
    server.request("DELETE", "/live.json?ns=default", headers=OWNER)
    page.wait_text(".teach", "Nothing is at /live")
    put(server, "live/again", True)
    page.shows("again", "true")


def test_an_edit_keeps_the_type_and_can_be_taken_back(console, server):
    put(server, "edit", {"text": "12", "number": 12, "flag": True, "first": {".value": "x", ".priority": 3}})
    page = console("data/edit?ns=default")
    for key, typed, value in [("text", "13", "13"), ("number", "13", 13), ("flag", "false", False)]:
        page.edits(key, typed)
        page.wait(f"!document.querySelector('.editor') && {page.row(key)}.innerText.includes({typed!r})")
        assert read(server, f"edit/{key}") == value
    page.edits("first", "y")
    page.shows("first", '"y"')
    assert read(server, "edit/first") == {".value": "y", ".priority": 3}
    # What is no number is said, and nothing is written.
    page.edits("number", "many")
    page.wait_text(".edit .problem", "A number looks like")
    page.key("Escape")
    page.wait("!document.querySelector('.editor')")
    assert read(server, "edit/number") == 13
    page.edits("number", '{"a": [1, 2]}', "JSON")
    page.shows("number", "a: {2}")
    assert read(server, "edit/number") == {"a": {"0": 1, "1": 2}}
    page.wait("document.querySelectorAll('#notices button').length")
    page.value("[...document.querySelectorAll('#notices button')].at(-1).click()")
    page.shows("number", "13")
    assert read(server, "edit/number") == 13


def test_nothing_is_taken_back_over_what_another_client_wrote(console, server):
    put(server, "both", {"a": "mine"})
    page = console("data/both?ns=default")
    page.edits("a", "changed")
    page.wait("document.querySelectorAll('#notices button').length === 1")
    put(server, "both/a", "theirs")
    page.value("document.querySelector('#notices button').click()")
    page.wait_notice("another client has written to /both/a meanwhile", "alerts")
    assert read(server, "both/a") == "theirs"


def test_what_was_renamed_or_copied_is_taken_back_with_the_keyboard(console, server):
    put(server, "back", {"a": {"n": 1}})
    page = console("data/back?ns=default")

    def takes_back():
        # The notice may be gone; the latest change is known as long as the page of the data is.
        page.value("document.querySelectorAll('#notices .toast').forEach((toast) => toast.remove())")
        page.value("document.querySelector('.tree').focus()")
        page.key("z", modifiers=2)

    def chooses(item, entry, button, **fields):
        page.chooses(item)
        page.press(".bar button", "More")
        page.press(".menu button", entry)
        page.answers(button, **fields)

    page.shows("a", "n: 1")
    chooses("a", "Copy to", "Copy", path="/back/b")
    page.wait_notice("Copied to /back/b")
    chooses("a", "Rename", "Rename", key="c")
    page.wait_notice("Renamed to /back/c")
    takes_back()
    page.shows("a", "n: 1")
    takes_back()
    page.wait(f"!{page.row('b')}")
    assert read(server, "back") == {"a": {"n": 1}}
    # Not what another client has changed meanwhile.
    chooses("a", "Rename", "Rename", key="d")
    page.wait_notice("Renamed to /back/d")
    put(server, "back/d/n", 2)
    page.shows("d", "n: 2")
    takes_back()
    page.wait_notice("another client has written to /back/d meanwhile", "alerts")
    assert read(server, "back") == {"d": {"n": 2}}
    takes_back()
    page.wait_notice("There is nothing to take back.")


def test_add_rename_copy_and_delete(console, server):
    put(server, "nodes", {"a": {"deep": [1, 2, 3]}})
    page = console("data/nodes?ns=default")
    page.shows("a")
    page.press(".bar button", "Add")
    page.answers("Add", key="new/key", value="x")
    page.wait_text("#dialog .problem", "A key cannot hold /.")
    page.answers("Add", key="new key", value="5", type="number")
    page.shows("new key", "5")
    page.chooses("a")
    page.press(".bar button", "More")
    page.press(".menu button", "Rename")
    page.answers("Rename", key="b")
    page.shows("b", "deep")
    page.chooses("b")
    page.press(".bar button", "More")
    page.press(".menu button", "Copy to")
    page.answers("Copy", path="/nodes/c")
    page.shows("c", "deep")
    page.chooses("c")
    page.press(".row[aria-selected=true] button", "Delete c")
    page.wait_text("#dialog", "1 child, 28 bytes, will go.")
    page.press("#dialog button", "Delete")
    page.wait(f"!{page.row('c')}")
    deep = {"deep": {"0": 1, "1": 2, "2": 3}}
    assert read(server, "nodes") == {"b": deep, "new key": 5}
    page.value("[...document.querySelectorAll('#notices button')].at(-1).click()")
    page.shows("c", "deep")
    assert read(server, "nodes/c") == deep


def test_a_hundred_thousand_children_are_scrolled_through(console, server):
    put(server, "many", {f"k{number:06}": number for number in range(100_000)})
    page = console("data/many?ns=default")
    page.shows("k000000", "0")
    tree = "document.querySelector('.tree')"
    assert page.value(f"{tree}.ariaRowCount ?? {tree}.getAttribute('aria-rowcount')") == "100001"
    for index in (50_000, 99_990, 25_000, 0):
        page.value(f"void ({tree}.scrollTop = {index * 26})")
        page.shows(f"k{index:06}", str(index))
        # Only what is in sight is there.
        assert page.value("document.querySelectorAll('.row').length") < 100
    page.value(f"{tree}.focus()")
    page.key("End")
    page.wait(f"{LEVEL}?.querySelector('.name').textContent === 'k099999'")


def test_a_filter_selects_and_orders_and_names_the_index_it_lacks(console, server):
    people = {f"p{number:02}": {"age": number, "name": f"Person {number}"} for number in range(60)}
    put(server, "people", people)
    page = console("data/people?ns=default")
    page.shows("p00", "age: 0")
    page.press(".bar button", "Filter")
    page.value("(() => { const order = document.querySelector('[name=order]'); order.value = 'child'; order.dispatchEvent(new Event('change')); })()")
    for name, text in (("by", "age"), ("from", "18"), ("to", "21")):
        page.write(f".filter [name={name}]", text)
    page.press(".filter button", "Apply")
    names = "[...document.querySelectorAll('.row .name')].slice(1).map((name) => name.textContent).join()"
    page.wait(f"{names} === 'p18,p19,p20,p21'")
    assert "order=child&by=age&from=18&to=21" in page.value("location.search")
    page.wait_text(".strip", '".indexOn": "age" at /people')
    # The selection stays live.
    put(server, "people/p05/age", 20)
    page.wait(f"{names} === 'p18,p19,p05,p20,p21'")
    put(server, "people/p19/age", 90)
    page.wait(f"{names} === 'p18,p05,p20,p21'")
    put(server, "people/p05/age", 21)
    page.wait(f"{names} === 'p18,p20,p05,p21'")
    page.press(".filter button", "Clear")
    page.shows("p00")


def test_the_data_is_seen_as_another_person(console, server):
    rules = {"rules": {"rooms": {".read": "auth.uid === 'ann'", "r2": {".read": True}}}}
    assert server.put("/.settings/rules.json?ns=seen-as", rules, headers=OWNER).status == 200
    put(server, "rooms", {"r1": {"a": 1}, "r2": {"b": 2}}, ns="seen-as")
    page = console("data/rooms?ns=seen-as")
    page.shows("r2")
    hidden = "[...document.querySelectorAll('.row.unreadable .name')].map((name) => name.textContent).join()"
    cases = (
        ("bob", "bob", "rooms,r1"), ("", "a signed-out user", "rooms,r1"), ('{"uid":"ann"}', '{"uid":"ann"}', ""),
    )
    for who, words, expected in cases:
        page.press(".bar button", "More")
        page.press(".menu button", "See as")
        page.answers("See", who=who)
        page.wait_text(".mask", f"Seen as {words}:")
        page.wait(f"{hidden} === {expected!r}")
        if who == "bob":
            page.wait(f"{page.row('r1')}.title.includes('auth.uid')")
            # The hatch stays when the row is chosen, and the frame stands above the rows.
            page.chooses("r1")
            page.wait(f"getComputedStyle({page.row('r1')}).backgroundImage.includes('repeating-linear-gradient')")
            frame = "getComputedStyle(document.querySelector('.masked'), '::after')"
            assert page.value(f"[{frame}.position, {frame}.zIndex, {frame}.borderTopWidth].join()") == "absolute,1,3px"
    page.press(".mask button", "Leave")
    page.wait("!document.querySelector('.mask').checkVisibility()")


def test_a_question_opened_as_the_last_one_closes_keeps_its_answer(console, server):
    page = console("data?ns=asked-twice")
    ask = """document.querySelector('.bar [aria-haspopup]').click();
        [...document.querySelectorAll('.menu button')].find((button) => button.innerText.includes('See as')).click();"""
    page.wait("document.querySelector('.bar [aria-haspopup]')")
    page.value(f"{ask} document.getElementById('ask-who').value = 'ann'")
    page.value(f"document.querySelector('#dialog [type=submit]').click(); {ask}")
    page.answers("See", who="bob")
    page.wait_text(".mask", "Seen as bob:")


TABLE = """[...document.querySelectorAll('[role=row].row')].map((row) =>
    [...row.querySelectorAll('.cell')].map((cell) => cell.innerText.trim()).join('|'))"""


def test_a_list_of_records_is_a_table_that_is_sorted_and_edited(console, server):
    # More members than an outline has, and not all of them in each.
    wide = {f"m{number}": number for number in range(9)}
    put(server, "table", {"a": {"age": 30, "name": "Ann"}, "b": {"age": 7, "name": "Bob", "tags": {"x": 1, "y": 2}}, "c": wide})
    page = console("data/table?ns=default", width=1900)
    page.press(".bar button", "Table")
    heads = "[...document.querySelectorAll('[role=columnheader]')].map((head) => head.innerText.trim()).join()"
    page.wait(f"{heads} === 'key ↑,age,name,tags,m0,m1,m2,m3,m4,m5,m6,m7,m8'")
    page.wait(f"""{TABLE}.join('; ') === 'a|30|"Ann"||||||||||; b|7|"Bob"|{{2}}|||||||||; c||||0|1|2|3|4|5|6|7|8'""")
    # Live, in records and in what only their own listing shows.
    put(server, "table/d", {"age": 12, "name": "Dan"})
    put(server, "table/c/m8", 80)
    page.wait(f"{TABLE}.length === 4 && {TABLE}[2].endsWith('|80')")
    # With keys alone: a number stays a number, and one where none was is one too.
    page.value("document.querySelector('.table').focus()")
    chosen = "document.getElementById(document.querySelector('.table').getAttribute('aria-activedescendant'))"
    for key in ("ArrowDown", "ArrowRight"):
        page.key(key)
    page.wait(f"{chosen}.innerText.trim() === '30'")
    page.key("Enter")
    page.wait("document.activeElement.classList.contains('editor')")
    page.write(".editor", "31")
    page.key("Enter")
    page.wait(f"{TABLE}[0].startsWith('a|31|') && document.activeElement.matches('.table')")
    assert read(server, "table/a/age") == 31
    for key in ("ArrowDown", "ArrowDown"):
        page.key(key)
    page.wait(f"{chosen}.parentElement.innerText.trim().startsWith('c')")
    page.key("Enter")
    page.wait("document.activeElement.classList.contains('editor')")
    page.write(".editor", "5")
    page.key("Enter")
    page.wait(f"{TABLE}[2].startsWith('c|5|')")
    assert read(server, "table/c/age") == 5
    # The head sorts: upwards, downwards, by key again.
    keys = f"{TABLE}.map((row) => row[0]).join('')"
    for key, order in ((None, "ascending"), ("Enter", "descending"), ("Enter", "none")):
        if key is None:
            page.press("[role=columnheader] button", "age")
        else:
            page.value("document.querySelector('.table').focus()")
            page.wait(f"document.activeElement.matches('.table')")
            page.key("ArrowRight")
            page.wait(f"{chosen}?.innerText.startsWith('age')")
            page.key(key)
        page.wait(f"document.querySelectorAll('[role=columnheader]')[1]?.ariaSort === {order!r}")
        page.wait(f"{keys} === '{dict(ascending='cbda', descending='adbc', none='abcd')[order]}'")
        if order == "ascending":
            page.wait_text(".strip", '".indexOn": "age" at /table')


def test_a_table_of_many_records_is_scrolled_through(console, server):
    put(server, "wide", {f"k{number:05}": {"n": number} for number in range(30_000)})
    page = console("data/wide?ns=default&view=table")
    page.wait(f"{TABLE}[0] === 'k00000|0'")
    table = "document.querySelector('.table')"
    assert page.value(f"{table}.getAttribute('aria-rowcount')") == "30001"
    for index in (15_000, 29_970, 0):
        page.value(f"void ({table}.scrollTop = {index * 26})")
        page.wait(f"{TABLE}.includes('k{index:05}|{index}')")
        assert page.value("document.querySelectorAll('.row').length") < 100


def test_a_text_or_key_that_is_known_elsewhere_leads_there(console, server):
    put(server, "users", {"ann": {"name": "Ann"}, "bob": {"name": "Bob"}}, ns="linked")
    room = {"owner": "ann", "title": "nothing known", "members": {"bob": True}, "at": "users/bob/name", "web": "data:text/plain,a/b"}
    put(server, "rooms/r1", room, ns="linked")
    page = console("data/rooms/r1?ns=linked")
    page.opens("members")
    links = "[...document.querySelectorAll('.row a.link')].map((link) => `${link.closest('.row').querySelector('.name').textContent} ${link.innerText}`).join('; ')"
    page.wait(f"{links} === 'at → users/bob/name; bob → users/bob; owner → users/ann'")
    page.chooses("owner")
    page.value("document.querySelector('.tree').focus()")
    page.key("o")
    page.shows("name", '"Ann"')
    assert page.value("location.pathname").endswith("/data/users/ann")
    page.value("history.back()")
    page.press(".row a.link", "→ users/bob")
    page.wait("location.pathname.includes('/data/users/bob')")


def test_long_and_binary_texts_are_folded_and_shown_whole(console, server):
    long, binary = "words and words " * 20, "data:image/png;base64," + "iVBORw0KGgo" * 40
    put(server, "folded", {"long": long, "binary": binary, "short": "x" * 90})
    page = console("data/folded?ns=default")
    page.shows("long", "320 bytes")
    page.shows("binary", '"data:image')
    page.shows("binary", "looks binary, 462 bytes")
    assert page.value(f"{page.row('binary')}.querySelector('.leaf').innerText.length") < 40
    assert page.value(f"{page.row('short')}.querySelector('.fold')") is None
    page.press(".row button.fold", "320 bytes")
    page.wait("document.querySelector('.whole')?.textContent.length === 320")
    page.press("#dialog button", "Close")
    page.chooses("binary")
    page.press(".bar button", "More")
    page.press(".menu button", "Show whole")
    page.wait(f"document.querySelector('.whole')?.textContent === {json.dumps(binary)}")


def test_a_node_is_saved_as_a_file_and_read_from_one(console, server, tmp_path):
    put(server, "moved", {"from": {"list": {str(number): "x" * 100 for number in range(2_000)}}, "to": {}})
    page = console("data/moved/from?ns=default")
    page.shows("list")
    browser_downloads = dict(behavior="allow", downloadPath=str(tmp_path))
    page.browser.call("Browser.setDownloadBehavior", **browser_downloads)
    page.press(".bar button", "More")
    page.press(".menu button", "Export as JSON")
    page.wait("!document.querySelector('dialog')")
    deadline = time.monotonic() + 60
    while not (tmp_path / "from.json").exists():
        assert time.monotonic() < deadline
    whole = read(server, "moved/from")
    # Into another place; what it is about to replace is said first.
    page = console("data/moved/to?ns=default")
    page.value("HTMLInputElement.prototype.click = function () { window.chooser = this; }")
    page.press(".bar button", "More")
    page.press(".menu button", "Import JSON")
    page.wait("window.chooser")
    page.value(
        f"""(() => {{ const files = new DataTransfer();
            files.items.add(new File([{json.dumps(json.dumps(whole))}], "from.json"));
            chooser.files = files.files;
            chooser.dispatchEvent(new Event("change")); }})()"""
    )
    page.wait_text("#dialog", "All of it becomes what is in from.json.")
    page.press("#dialog button", "Replace")
    page.wait_notice("Imported from.json to /moved/to")
    assert read(server, "moved/to") == whole
    page.press("#notices button", "Undo")
    page.wait_text(".teach", "Nothing is at /moved/to")
    put(server, "moved/to", whole)
    # A file that is none is refused with the server's words.
    page.press(".bar button", "More")
    page.press(".menu button", "Import JSON")
    page.value(
        """(() => { const files = new DataTransfer(); files.items.add(new File(["{"], "bad.json"));
            chooser.files = files.files; chooser.dispatchEvent(new Event("change")); })()"""
    )
    page.press("#dialog button", "Replace")
    page.wait_notice("Could not do it: Import /moved/to", "alerts")
    assert read(server, "moved/to") == whole


def test_hostile_keys_and_values_are_text(console, server):
    hostile = {"<img src=x onerror=alert(1)>": "<b>no</b>", "\u202eabc": "\u202e\u200bdef", "k" * 700: "x" * 100_000, "deep": 1e308}
    put(server, "hostile", hostile)
    page = console("data/hostile?ns=default")
    page.shows("<img src=x onerror=alert(1)>", "<b>no</b>")
    page.shows("\\u202eabc", "\\u202e\\u200bdef")
    page.shows("deep", "1e+308")
    page.shows("k" * 700, "100 KB")
    assert page.value("document.querySelectorAll('.row img, .row b').length") == 0
    page.edits("\\u202eabc", "plain", "text")
    page.shows("\\u202eabc", '"plain"')
    assert read(server, "hostile/" + "%E2%80%AEabc") == "plain"


def test_a_lost_connection_shows_and_comes_back(console, tmp_path, browser):
    with Hearth(data=tmp_path / "data") as first:
        put(first, "kept", {"a": 1})
        page = Console(browser, first, "data/kept?ns=default")
        page.shows("a", "1")
        port = first.port
        first.kill()
        page.wait("document.getElementById('connection').dataset.state !== 'online'")
        assert page.value(f"{page.row('a')}.innerText").startswith("a")
        with Hearth("--port", str(port), data=tmp_path / "data") as second:
            page.wait("document.getElementById('connection').dataset.state === 'online'")
            put(second, "kept/a", 2)
            page.shows("a", "2")
            page.close()


def test_the_tree_is_worked_with_keys_alone(console, server):
    put(server, "keys", {"a": {"x": 1}, "b": 2})
    page = console("data/keys?ns=default")
    page.shows("b", "2")
    chosen = f"{LEVEL}?.querySelector('.name').textContent"
    page.value("document.querySelector('.tree').focus()")
    for key, name in [("ArrowDown", "a"), ("ArrowRight", "a"), ("ArrowDown", "x"), ("ArrowLeft", "a"), ("ArrowLeft", "a"), ("ArrowDown", "b")]:
        page.key(key)
        page.wait(f"{chosen} === {name!r}")
        if (key, name) == ("ArrowRight", "a"):
            page.shows("x", "1")
    page.key("Enter")
    page.wait("document.activeElement.classList.contains('editor')")
    page.write(".editor", "3")
    page.key("Enter")
    page.shows("b", "3")
    page.wait("document.activeElement.getAttribute('role') === 'treegrid'")
    page.key("Home")
    page.wait(f"{chosen} === 'keys'")


def test_the_palette_leads_anywhere_with_keys_alone(console, server):
    put(server, "palette", {"first": {"deep": 1}, "fish": 2, "other": 3})
    put(server, "x", 1, ns="palette-too")
    page = console("data/palette/first?ns=default")
    page.shows("deep", "1")
    chosen = "document.getElementById(document.querySelector('#palette-field').getAttribute('aria-activedescendant'))?.innerText.replace(/\\s+/g, ' ')"

    def goes(text, *, expected, keys=()):
        page.key("k", modifiers=2)
        page.write("#palette-field", text)
        for key in keys:
            page.wait(f"document.querySelectorAll('.palette li').length > {len(keys)}")
            page.key(key)
        page.wait(f"{chosen} === {expected!r}")
        page.key("Enter")
        page.wait("!document.querySelector('dialog')")

    goes("requ", expected="Requests page")
    page.wait("location.pathname.endsWith('/requests')")
    goes("/palette/fi", expected="/palette/fish path", keys=["ArrowDown", "ArrowDown"])
    page.wait("location.pathname.endsWith('/data/palette/fish')")
    page.shows("fish", "2")
    goes("palette-too", expected="palette-too database")
    page.wait("location.search === '?ns=palette-too'")
    page.shows("x", "1")
    goes("bea@example.com", expected="Find the user bea@example.com user")
    page.wait_text(".teach", "No such user")
    # What was looked at is offered in its own database, and Escape changes nothing.
    page.value("(() => { const pick = document.getElementById('database'); pick.value = 'default'; pick.dispatchEvent(new Event('change')); })()")
    page.press("#palette")
    page.wait(f"{chosen} === '/palette/fish recent path'")
    before = page.value("location.href")
    page.key("Escape")
    page.wait("!document.querySelector('dialog')")
    assert page.value("location.href") == before


def test_what_is_empty_teaches_lines_that_work_with_this_server(console, server):
    def line(label):
        return page.wait(f"[...document.querySelectorAll('.lines dd')].find((each) => each.previousSibling.textContent === {label!r})?.querySelector('pre').textContent")

    page = console("data/it's/empty?ns=taught")
    here = page.value("location.origin")
    assert line("JavaScript") == f'set(ref(getDatabase(app, "{here}?ns=taught"), "it\'s/empty/hello"), "world")'
    assert line("Swift") == f'Database.database(url: "{here}?ns=taught").reference(withPath: "it\'s/empty/hello").setValue("world")'
    subprocess.run(["bash", "-c", line("curl")], check=True, capture_output=True)
    page.shows("hello", '"world"')
    page.press("#rail a", "Requests")
    # The page may show the write above: in development everybody may write.
    page.wait("document.querySelectorAll('.request').length === 1")
    page.press(".bar button", "Clear")
    assert line("Swift").endswith('.reference(withPath: "anything").getData()')
    subprocess.run(["bash", "-c", line("curl")], check=True, capture_output=True)
    page.wait("document.querySelectorAll('.request').length === 1")


# Other pages


def test_the_overview_shows_what_the_server_does(console, server):
    put(server, "some/where", 1, ns="seen")
    page = console("overview?ns=seen")
    page.wait_text(".tile", "takes writes")
    page.wait_text(".list", "seen")
    page.wait("document.querySelector('.spark path')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_every_page_can_be_read_in_both_schemes_and_fits(console, server, scheme, width):
    put(server, "look", {"text": "words", "number": 5, "flag": True, "list": {"a": 1}, "at": 1763812345000})
    page = console("data/look?ns=default", width=width, height=700, media={"prefers-color-scheme": scheme})
    page.shows("number", "5")
    for name in ("data", "requests", "rules", "users", "overview"):
        page.press("#rail a", name.capitalize())
        page.wait(f"location.pathname.includes('{name}') && document.querySelector('main section')")
        assert page.value("document.documentElement.scrollWidth <= innerWidth")
        assert contrast_faults(page) == []
        unnamed = "[...document.querySelectorAll('button, a, input, select, textarea')].filter((e) => e.checkVisibility() && !(e.ariaLabel || e.innerText?.trim() || e.labels?.length || e.title)).map((e) => e.outerHTML)"
        assert page.value(unnamed) == []
