"""A window at the console, and what its tests have in common."""

import json

import pytest

from sample_pages import Window

OWNER = {"Authorization": "Bearer owner"}


class Console(Window):
    """A window at a page of the console."""

    def __init__(self, browser, server, path="", **options):
        super().__init__(browser, f"http://localhost:{server.port}/.console/{path}", **options)

    def row(self, key):
        """The row of a key, as an expression."""
        return (
            "[...document.querySelectorAll('.row')].find((row) => "
            f"row.querySelector('.name')?.textContent === {json.dumps(key)})"
        )

    def shows(self, key, text=""):
        """Waits until a row has a text."""
        self.wait(f"{self.row(key)}?.innerText.includes({json.dumps(text)})")

    def opens(self, key):
        self.wait(f"{self.row(key)}?.querySelector('.twisty')?.click() ?? {self.row(key)}")

    def chooses(self, key):
        self.wait(f"({self.row(key)}.querySelector('.value').click(), {self.row(key)}.ariaSelected === 'true')")

    def begins_to_edit(self, key):
        """Opens the editor of a leaf, in its place or in a dialog."""
        self.wait(
            f"(document.querySelector('.edit') || {self.row(key)}.dispatchEvent(new MouseEvent('dblclick', {{ bubbles: true }})), "
            f"document.querySelector('.edit .editor:enabled'))"
        )

    def edits(self, key, text, kind=None):
        """Edits a leaf in its place."""
        self.begins_to_edit(key)
        if kind:
            self.value(f"document.querySelector('.edit select').value = {json.dumps(kind)}")
        self.write(".editor", text)
        self.key("Enter")

    def types(self, text):
        """Presses the keys of a text."""
        for sign in text:
            self.call("Input.dispatchKeyEvent", type="keyDown", key=sign, text=sign)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=sign)

    def does(self, entry):
        """Chooses an entry of the menu."""
        self.press(".bar button", "More")
        self.press(".menu button", entry)

    def answers(self, button, **fields):
        """Fills the dialog and presses its button."""
        self.wait("document.getElementById('dialog').open")
        for name, text in fields.items():
            self.value(f"document.getElementById('ask-{name}').value = {json.dumps(text)}")
        self.press("#dialog button", button)


@pytest.fixture
def console(browser, server):
    """Opens windows at the console of the fixture `server`, or of another; none of them may have met a fault at the end."""
    windows = []

    def open_console(path="", of=None, **options):
        window = Console(browser, of or server, path, **options)
        windows.append(window)
        return window

    yield open_console
    for each in windows:
        each.check()
        each.close()


def put(server, path, value, ns="default"):
    answer = server.put(f"/{path}.json?ns={ns}", value, headers=OWNER)
    assert answer.status == 200, answer.text


def read(server, path, ns="default"):
    return server.get(f"/{path}.json?ns={ns}&format=export", headers=OWNER).json
