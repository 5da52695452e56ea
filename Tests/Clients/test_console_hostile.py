"""Data that is made to harm, mislead or break the page: shown as text, edited, copied and moved as it is."""

import json
import time

import pytest

from console_window import OWNER, console, put, read
from hearth_server import Hearth

SCRIPT = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
BIDI = "\u202eabc\u2066def\u200b\ufeff"
LINES = "one\r\ntwo\tthree\n\u0000\u2028"
# What a number of JSON can be at its edges, as the server writes it.
NUMBERS = {
    "two to the 53": "9007199254740992", "one more": "9007199254740993", "least": "-9223372036854775808",
    "minus zero": "-0", "huge": "1e+308", "tiny": "5e-324", "third": "0.1",
}
# What the browser makes of whole numbers that it cannot hold.
ROUNDED = {"two to the 53": "≈ 9007199254740992", "one more": "≈ 9007199254740992", "least": "≈ -9223372036854776000"}
KEYS = [SCRIPT.replace("/", "|").replace(".", "·").replace("[", "("), BIDI, "k" * 768, "__proto__", "constructor", "toString", "count", "first", "text", "0", "-1", "%2F", "a b", "'\"`&"]
TEXTS = ["", " ", "null", "true", "0", '"', "{}", SCRIPT, BIDI, LINES, "a/b", "http://a/b", "😀" * 90, "\ud7ff\ue000"]


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


def raw(server, path, ns="default"):
    """What is stored, as the text that it is."""
    answer = server.get(f"/{path}.json?ns={ns}&format=export", headers=OWNER)
    assert answer.status == 200, answer.text
    return answer.text


def put_text(server, path, text, ns="default"):
    answer = server.put(f"/{path}.json?ns={ns}", None, raw=text.encode(), headers=OWNER)
    assert answer.status == 200, answer.text


def shown(text):
    """How the page shows characters that are not seen."""
    unseen = [*range(0x20), *range(0x7F, 0xA0), 0xAD, 0x61C, 0x180E, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF, *range(0xFFF9, 0xFFFC)]
    names = {"\n": "⏎", "\t": "⇥"}
    return "".join(names.get(sign) or (f"\\u{ord(sign):04x}" if ord(sign) in unseen else sign) for sign in text)


@pytest.fixture(scope="module")
def hostile(server):
    value = {
        "keys": {key: number for number, key in enumerate(KEYS)},
        "texts": {f"t{number:02}": text for number, text in enumerate(TEXTS)},
        "prior": {"a": {".value": SCRIPT, ".priority": BIDI}, "b": {"c": 1, ".priority": 5e-324}},
    }
    put(server, "hostile", value)
    put_text(server, "hostile/numbers", "{" + ",".join(f"{json.dumps(key)}:{number}" for key, number in NUMBERS.items()) + "}")
    deep = "leaf"
    for level in range(30, 0, -1):
        deep = {f"d{level}": deep}
    put(server, "hostile/deep", deep)
    return raw(server, "hostile")


@pytest.mark.parametrize("view", ["", "&view=table"])
def test_keys_and_texts_are_only_ever_text(console, server, hostile, view):
    page = console(f"data/hostile/keys?ns=default{view}", height=900)
    names = "[...document.querySelectorAll('.row .name')].map((name) => name.textContent)"
    page.wait(f"{names}.length >= {len(KEYS)}")
    assert set(map(shown, KEYS)) <= set(page.value(names))
    page = console(f"data/hostile/texts?ns=default{view}", height=900)
    leaves = "[...document.querySelectorAll('.row .leaf')].map((leaf) => leaf.textContent)"
    page.wait(f"{leaves}.length === {len(TEXTS)}")
    # Long ones are folded.
    expected = [f'"{shown(text)}"' if len(text) < 90 else None for text in TEXTS]
    for text, found in zip(expected, page.value(leaves)):
        assert text is None or found == text
    assert "taken" not in page.value("document.title")
    assert page.value("document.querySelectorAll('.tree script, .tree img').length") == 0


def test_numbers_at_every_edge_are_shown_and_edited_digit_by_digit(console, server, hostile):
    page = console("data/hostile/numbers?ns=default")
    page.shows("tiny", "5e-324")
    leaf = "{0}.querySelector('.leaf').textContent"
    for key, text in NUMBERS.items():
        found = page.value(leaf.format(page.row(key)))
        assert found == ROUNDED.get(key, text), key
        # The editor has each digit, and what is left unchanged is not written.
        page.begins_to_edit(key)
        page.wait(f"document.querySelector('.editor').value === {json.dumps(text)}")
        page.key("Escape")
        page.wait("!document.querySelector('.editor')")
    for key, typed in (("one more", "9007199254740995"), ("third", "-0"), ("minus zero", "4.9e-324")):
        page.edits(key, typed)
        page.wait("!document.querySelector('.editor')")
        page.shows(key)
    stored = raw(server, "hostile/numbers")
    assert '"one more":9007199254740995' in stored and '"third":-0' in stored and '"minus zero":5e-324' in stored
    page.edits("huge", "1e309")
    page.wait_text(".edit .problem", "A number looks like")
    page.key("Escape")
    put_text(server, "hostile/numbers", "{" + ",".join(f"{json.dumps(key)}:{number}" for key, number in NUMBERS.items()) + "}")


def test_texts_with_lines_and_unseen_characters_are_edited_and_kept(console, server):
    put(server, "edited", {"bidi": BIDI, "lines": "one\ntwo", "crlf": LINES, "empty": ""})
    page = console("data/edited?ns=default")
    page.shows("empty")
    # A field for words would hide them: JSON with escapes shows them.
    page.begins_to_edit("bidi")
    page.wait("document.querySelector('.editor').value === '\"\\\\u202eabc\\\\u2066def\\\\u200b\\\\ufeff\"'")
    page.write(".editor", '"\\u202exyz"')
    page.key("Enter")
    page.shows("bidi", "\\u202exyz")
    assert read(server, "edited/bidi") == "\u202exyz"
    page.edits("empty", "not empty")
    page.shows("empty", "not empty")
    # Lines have a dialog of their own.
    page.begins_to_edit("lines")
    page.wait("document.querySelector('#dialog textarea.editor').value === 'one\\ntwo'")
    page.write(".editor", "one\ntwo\nthree")
    page.press("#dialog button", "Save")
    page.wait("!document.querySelector('dialog')")
    assert read(server, "edited/lines") == "one\ntwo\nthree"
    page.begins_to_edit("crlf")
    page.wait("document.querySelector('#dialog .edit select').value === 'JSON'")
    page.press("#dialog button", "Save")
    page.wait("!document.querySelector('dialog')")
    assert read(server, "edited/crlf") == LINES


def test_a_text_of_ten_megabytes_is_shown_folded_and_changed_by_a_file(console, server):
    put(server, "large", {"text": "x" * 10_000_000, "some": "y" * 400_000})
    page = console("data/large?ns=default")
    page.shows("text", "10 MB")
    assert page.value(f"{page.row('text')}.innerText.length") < 400
    page.value(f"{page.row('text')}.dispatchEvent(new MouseEvent('dblclick', {{ bubbles: true }}))")
    page.wait_notice("This text has 10 MB, too many for a field")
    page.chooses("text")
    imports(page, json.dumps("z" * 10_000_000))
    page.shows("text", '"zzz')
    assert server.get("/large/text.json?ns=default", headers=OWNER).json == "z" * 10_000_000
    # What a field can hold is edited in one.
    page.begins_to_edit("some")
    page.wait("document.querySelector('.editor').value.length === 400000")
    page.value("void (document.querySelector('.editor').value += 'end')")
    page.press("#dialog button", "Save")
    page.wait("!document.querySelector('dialog')")
    assert server.get("/large/some.json?ns=default", headers=OWNER).json == "y" * 400_000 + "end"


def test_the_deepest_leaf_is_reached(console, server, hostile):
    page = console("data/hostile/deep?ns=default", height=1100)
    for level in range(1, 30):
        page.opens(f"d{level}")
        page.shows(f"d{level + 1}")
    page.edits("d30", "changed")
    page.shows("d30", '"changed"')
    assert '"d30":"changed"' in raw(server, "hostile/deep")
    put_text(server, "hostile/deep", json.dumps(json.loads(hostile)["deep"]))


def imports(page, text):
    """Imports a file with this text to what is chosen."""
    page.value("HTMLInputElement.prototype.click = function () { window.chooser = this; }")
    page.does("Import JSON")
    page.value(
        f"""(() => {{
            const files = new DataTransfer();
            files.items.add(new File([{json.dumps(text)}], "hostile.json"));
            chooser.files = files.files;
            chooser.dispatchEvent(new Event("change"));
        }})()"""
    )
    page.answers("Replace")
    page.wait_notice("Imported hostile.json")


def test_what_is_copied_renamed_and_put_back_is_the_same(console, server, hostile):
    def stored(path):
        return raw(server, path, "moving")

    put_text(server, "from", hostile, "moving")
    page = console("data?ns=moving")
    page.value("void (navigator.clipboard.writeText = async (text) => void (window.copied = text))")
    page.shows("from")
    page.chooses("from")
    page.does("Copy JSON")
    page.wait("window.copied")
    put_text(server, "pasted", page.value("copied"), "moving")
    assert stored("pasted") == stored("from") == hostile
    page.does("Copy to")
    page.answers("Copy", path="/copy")
    page.shows("copy")
    page.chooses("from")
    page.does("Rename")
    page.answers("Rename", key="named")
    page.shows("named")
    assert stored("copy") == stored("named") == hostile
    page.chooses("copy")
    page.press(".row[aria-selected=true] button", "Delete copy")
    page.answers("Delete")
    page.wait(f"!{page.row('copy')}")
    page.value("[...document.querySelectorAll('#notices button')].at(-1).click()")
    page.shows("copy")
    assert stored("copy") == hostile


def test_a_file_of_it_gives_the_same_back(console, server, hostile, tmp_path):
    page = console("data/hostile?ns=default")
    page.shows("keys")
    page.browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.does("Export as JSON")
    deadline = time.monotonic() + 60
    while not (tmp_path / "hostile.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert (tmp_path / "hostile.json").read_text() == hostile
    put(server, "imported", {"old": 1})
    page = console("data/imported?ns=default")
    page.shows("old")
    imports(page, hostile)
    assert raw(server, "imported") == hostile


def test_a_million_children_are_gone_through(console, server):
    members = ",".join(f'"k{number:07}":{number}' for number in range(1_000_000))
    put_text(server, "million", "{" + members + "}")
    page = console("data/million?ns=default")
    page.shows("k0000000", "0")
    page.value("document.querySelector('.tree').focus()")
    page.key("End")
    page.wait("document.querySelector('.row[aria-selected=true] .name').textContent === 'k0999999'")
    page.types("k05")
    page.wait("document.querySelector('.row[aria-selected=true] .name').textContent === 'k0500000'")
    page.key("Enter")
    page.wait("document.activeElement.classList.contains('editor')")
    page.write(".editor", "7")
    page.key("Enter")
    page.shows("k0500000", "7")
    assert read(server, "million/k0500000") == 7
    assert page.value("document.querySelectorAll('.row').length") < 100
