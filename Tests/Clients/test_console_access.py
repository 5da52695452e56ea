"""Whether people can use each page of the console: with the keyboard alone, with a screen reader, in both themes, small and large."""

import re

import pytest

from access import faults, tabbed_through
from console_window import OWNER, console, put
from hearth_server import ROOT, Hearth

# Each page, from the file that lists them.
PAGES = re.findall(r'name: "(\w+)"', (ROOT / "Sources/Server/CPages/Pages/console/pages.js").read_text())


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        look = {"text": "words", "number": 5, "flag": True, "list": {"a": 1}, "at": 1763812345000, "long": "words and words " * 40}
        put(server, "look", {**look, "prior": {".value": 1, ".priority": 2}})
        put(server, "records", {f"r{number}": {"name": f"Record {number}", "n": number} for number in range(30)})
        account = {"email": "ann@example.com", "password": "secret12", "displayName": "Ann"}
        path = "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any"
        assert server.request("POST", path, account).status == 200
        rules = {"rules": {"rooms": {".read": "auth.uid === 'ann'"}, "look": {".read": True}}}
        assert server.put("/.settings/rules.json?ns=default", rules, headers=OWNER).status == 200
        assert server.get("/rooms.json?ns=default").status == 401
        yield server


def is_drawn(page, name):
    page.wait(f"location.pathname.includes('/{name}') && document.querySelector('main section')")
    page.wait("document.getElementById('connection').dataset.state === 'online'")


def faults_of_each_look(page, widths):
    """What is wrong with a page, in both themes, at each width."""
    found = {}
    for width in widths:
        for scheme in ("light", "dark"):
            page.look(width, 720, {"prefers-color-scheme": scheme})
            page.wait(f"innerWidth === {width} && matchMedia('(prefers-color-scheme: {scheme})').matches")
            # What follows the size of the window has done so.
            page.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            if wrong := faults(page):
                found[width, scheme] = wrong
    return found


@pytest.mark.parametrize("name", PAGES)
def test_every_page(console, name):
    page = console(f"{name}?ns=default")
    is_drawn(page, name)
    assert faults_of_each_look(page, [360, 1280]) == {}
    stops, wrong = tabbed_through(page)
    assert wrong == []
    # The frame's own, and at least one of the page.
    assert len(stops) > len(PAGES) + 5, stops


DATA = {
    "tree": "data/look?ns=default",
    "table": "data/records?ns=default&view=table&order=child&by=n",
    "search": "data?ns=default&find=record",
    "seen as": "data?ns=default&as=bob",
    "nothing": "data/nothing/here?ns=default",
}


def prepare(page, state):
    if state == "tree":
        page.chooses("text")
        page.wait("document.querySelector('.row .actions button')")
    elif state == "table":
        page.wait("document.querySelectorAll('[role=row].row').length > 10")
        page.key("ArrowDown")
        page.wait("document.querySelector('#chosen-cell')")
    elif state == "search":
        page.wait("document.querySelectorAll('.hits li').length > 10")
    elif state == "seen as":
        page.wait("document.querySelector('.row.unreadable')")
    else:
        page.wait_text(".teach", "Nothing is at")


@pytest.mark.parametrize("state", DATA)
def test_the_data_in_every_state(console, state):
    page = console(DATA[state])
    prepare(page, state)
    # A window of 1280 pixels at 200 % zoom has 640.
    assert faults_of_each_look(page, [360, 640, 1280]) == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_editors_and_dialogs(console, server, scheme):
    page = console("data/look?ns=default", width=360, height=720, media={"prefers-color-scheme": scheme})
    page.shows("number")
    page.begins_to_edit("number")
    page.write(".editor", "many")
    page.key("Enter")
    page.wait_text(".edit .problem", "A number looks like")
    # It stands under the field, within the window, and above the rows.
    seen = """(() => {
        const { left, right, top, bottom } = document.querySelector(".edit .problem").getBoundingClientRect();
        const isUnder = top >= document.querySelector(".editor").getBoundingClientRect().bottom - 2;
        return isUnder && left >= 0 && right <= innerWidth && document.elementFromPoint((left + right) / 2, (top + bottom) / 2)?.className;
    })()"""
    assert page.value(seen) == "problem"
    page.wait("document.activeElement.classList.contains('editor')")
    # An editor goes when the focus does.
    assert faults(page, moves_focus=False) == []
    page.key("Escape")
    for entry in ("Rename", "Priority", "See as", "Copy to"):
        page.chooses("text")
        page.does(entry)
        page.wait("document.querySelector('dialog[open]')")
        assert faults(page) == []
        page.press("#dialog button", "Cancel")
        page.wait("!document.querySelector('dialog')")
    page.begins_to_edit("long")
    page.wait("document.querySelector('.wide-dialog textarea:enabled')")
    assert faults(page) == []
    page.press("#dialog button", "Cancel")
