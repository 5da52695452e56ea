"""What several people do to the same data, and how the keyboard goes through it."""

import json

import pytest

from console_window import OWNER, Console, console, put, read
from hearth_server import Hearth

CHOSEN = "document.querySelector('.row[aria-selected=true] .name')?.textContent"


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


def test_a_delete_says_what_goes_without_reading_it(console, server):
    put(server, "going", {"big": {f"k{number}": "x" * 1000 for number in range(12_000)}, "leaf": 5})
    page = console("data/going?ns=default")
    page.shows("big")
    page.value("void (window.reads = [], window.realFetch = fetch, window.fetch = (url, options) => { reads.push(`${options.method} ${url}`); return realFetch(url, options); })")
    page.chooses("big")
    page.press(".row[aria-selected=true] button", "Delete big")
    page.wait_text("#dialog", "12,000 children, 12 MB, will go. It is too large to be put back from here.")
    assert page.value("reads.map((each) => each.split('?')[0])") == ["GET /.inspect/size.json"]
    page.press("#dialog button", "Cancel")
    page.chooses("leaf")
    page.press(".row[aria-selected=true] button", "Delete leaf")
    page.wait_text("#dialog", "this value, 1 bytes, will go.")
    page.press("#dialog button", "Cancel")
    page.chooses("big")
    page.press(".row[aria-selected=true] button", "Delete big")
    page.answers("Delete")
    page.wait(f"!{page.row('big')}")
    assert read(server, "going") == {"leaf": 5}


def test_what_is_typed_stays_when_another_client_writes(console, server):
    put(server, "two", {"a": "first", "b": 1})
    page = console("data/two?ns=default")
    page.shows("a", "first")
    page.begins_to_edit("a")
    page.write(".editor", "mine")
    put(server, "two/a", "theirs")
    page.wait_text(".edit .problem", 'Another client has changed it: it is now "theirs"')
    assert page.value("document.querySelector('.editor').value") == "mine"
    page.key("Enter")
    page.wait_text(".edit .problem", 'Another client has written meanwhile: it is now "theirs". Enter writes yours over it')
    assert read(server, "two/a") == "theirs"
    page.key("Enter")
    page.wait("!document.querySelector('.editor')")
    page.shows("a", "mine")
    assert read(server, "two/a") == "mine"
    # Also where it was removed, with all beside it.
    page.begins_to_edit("a")
    page.write(".editor", "again")
    server.request("DELETE", "/two.json?ns=default", headers=OWNER)
    page.wait("document.querySelector('.count').textContent === ''")
    assert page.value("document.querySelector('.editor').value") == "again"
    page.key("Enter")
    page.wait_text(".edit .problem", "it is now null. Enter writes yours over it")
    page.key("Escape")
    page.wait_text(".teach", "Nothing is at /two")


def test_what_is_typed_outlives_a_lost_connection(tmp_path, browser):
    with Hearth(data=tmp_path / "data") as first:
        put(first, "kept", {"a": "before", "b": 1})
        page = Console(browser, first, "data/kept?ns=default")
        page.shows("a", "before")
        page.begins_to_edit("a")
        page.wait("performance.getEntriesByType('resource').some(({ name }) => name.includes('/kept/a.json'))")
        page.write(".editor", "typed")
        port = first.port
        first.kill()
        page.wait("document.getElementById('connection').dataset.state !== 'online'")
        page.key("Enter")
        page.wait_text(".edit .problem", "Not saved")
        assert page.value("document.querySelector('.editor').value") == "typed"
        with Hearth("--port", str(port), data=tmp_path / "data") as second:
            page.wait("document.getElementById('connection').dataset.state === 'online'")
            page.shows("b", "1")
            assert page.value("document.querySelector('.editor').value") == "typed"
            page.key("Enter")
            page.shows("a", "typed")
            page.wait("!document.querySelector('.editor')")
            assert read(second, "kept/a") == "typed"
            page.close()


def test_a_priority_is_shown_changed_and_taken_back(console, server):
    put(server, "prior", {"a": {".value": 1, ".priority": 7}, "b": {"c": 1}})
    page = console("data/prior?ns=default")
    page.shows("a", "↑ 7")
    page.chooses("a")
    page.does("Priority")
    page.answers("Save", type="text", value="high")
    page.shows("a", '↑ "high"')
    page.chooses("b")
    page.does("Priority")
    page.answers("Save", type="number", value="-0.5")
    page.shows("b", "↑ -0.5")
    assert read(server, "prior") == {"a": {".value": 1, ".priority": "high"}, "b": {"c": 1, ".priority": -0.5}}
    page.value("document.querySelectorAll('#notices .toast').forEach((toast) => toast.remove())")
    page.value("document.querySelector('.tree').focus()")
    page.key("z", modifiers=2)
    page.wait(f"!{page.row('b')}.innerText.includes('↑')")
    page.chooses("a")
    page.does("Priority")
    page.answers("Save", type="none")
    page.wait(f"!{page.row('a')}.innerText.includes('↑')")
    assert read(server, "prior") == {"a": 1, "b": {"c": 1}}


def test_the_tree_is_a_treegrid_with_one_tab_stop(console, server):
    put(server, "aria", {"apple": {"x": 1}, "berry": 2, "cherry": 3})
    page = console("data/aria?ns=default")
    page.shows("cherry")
    facts = """[...document.querySelectorAll('.row')].map((row) => ['level', 'posinset', 'setsize', 'expanded', 'selected']
        .map((name) => row.getAttribute(`aria-${name}`)).join(' '))"""
    page.opens("apple")
    page.shows("x")
    page.wait(f"{facts}.length === 5")
    assert page.value(facts) == [
        "1 1 1 true false", "2 1 3 true true", "3 1 1  false", "2 2 3  false", "2 3 3  false",
    ]
    stops = "[...document.querySelectorAll('.tree, .tree *')].filter((each) => each.tabIndex >= 0).length"
    assert page.value(stops) == 1
    page.value("document.querySelector('.tree').focus()")
    page.types("ch")
    page.wait(f"{CHOSEN} === 'cherry'")
    page.key("F2")
    page.wait("document.activeElement.classList.contains('editor')")
    page.write(".editor", "33")
    page.key("Enter")
    page.shows("cherry", "33")
    # A change is said to those who hear the page.
    put(server, "aria/berry", 20)
    page.wait("document.querySelector('.data > .unseen').textContent === 'berry changed'")


def test_typing_a_key_leads_there_among_many(console, server):
    put(server, "typed", {f"k{number:06}": number for number in range(100_000)})
    page = console("data/typed?ns=default")
    page.shows("k000000")
    page.value("document.querySelector('.tree').focus()")
    page.types("k0777")
    page.wait(f"{CHOSEN} === 'k077700'")
    page.key("ArrowDown")
    page.wait(f"{CHOSEN} === 'k077701'")
    # The address of a key leads there too.
    page = console("data/typed?ns=default&at=k050000")
    page.wait(f"{CHOSEN} === 'k050000'")


def test_the_table_is_edited_while_another_client_writes(console, server):
    put(server, "cells", {"r1": {"n": 1, "t": "x"}, "r2": {"n": 2, "t": "y"}})
    page = console("data/cells?ns=default&view=table")
    page.wait("document.querySelectorAll('[role=row].row').length === 2")
    page.value("document.querySelector('.table').focus()")
    for key in ("ArrowDown", "ArrowRight", "F2"):
        page.key(key)
    page.wait("document.activeElement.classList.contains('editor')")
    page.write(".editor", "5")
    put(server, "cells/r1/n", 7)
    page.wait_text(".edit .problem", "it is now 7")
    page.key("Enter")
    page.wait_text(".edit .problem", "Enter writes yours over it")
    page.key("Enter")
    page.wait("!document.querySelector('.editor')")
    assert read(server, "cells/r1/n") == 5
