"""The page of files as a person uses it, in Chromium."""

import json
import struct
import zlib

import pytest

from console_window import OWNER, Console
from hearth_server import Hearth

BUCKET = "demo.appspot.com"
OBJECTS = f"/storage/v1/b/{BUCKET}/o"


def picture(width=8, height=8):
    """A PNG of one colour."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\xd0\x60\x20" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def stored(server, name, body=b"hello", kind="text/plain"):
    from urllib.parse import quote

    path = f"/upload{OBJECTS}?uploadType=media&name={quote(name, safe='')}"
    answer = server.request("POST", path, None, raw=body, headers={**OWNER, "Content-Type": kind})
    assert answer.status == 200, answer.text
    return answer.json


def names(server):
    return sorted(item["name"] for item in server.get(OBJECTS, headers=OWNER).json.get("items", []))


@pytest.fixture
def own(browser):
    with Hearth() as server:
        windows = []

        def opened(path="files?ns=default", **options):
            windows.append(Console(browser, server, path, **options))
            return windows[-1]

        yield server, opened
        for each in windows:
            each.check()
            each.close()


def rows(page):
    return page.value("[...document.querySelectorAll('.list tbody th')].map((cell) => cell.innerText)")


def wait_rows(page, expected):
    page.wait(f"JSON.stringify([...document.querySelectorAll('.list tbody th')].map((cell) => cell.innerText)) === {json.dumps(json.dumps(expected, separators=(',', ':')))}")


def chosen_files(page, files):
    """Gives files to the page, as a person chooses them; texts by name."""
    page.value(
        f"""(() => {{
            const all = new DataTransfer();
            for (const [name, text] of Object.entries({json.dumps(files)})) all.items.add(new File([text], name, {{ type: 'text/plain' }}));
            const input = document.querySelector('input[type=file]');
            input.files = all.files;
            input.dispatchEvent(new Event('change'));
        }})()"""
    )


def test_folders_are_opened_and_a_file_is_looked_at(own):
    server, opened = own
    stored(server, "a/b/picture.png", picture(), "image/png")
    stored(server, "a/notes.txt", b"a line <b>of text</b>\n")
    stored(server, "a//odd.txt")
    stored(server, "top.bin", b"\0\1\2", "application/octet-stream")
    page = opened(f"files/{BUCKET}?ns=default")
    wait_rows(page, ["a/", "top.bin"])
    page.press(".list a", "a/")
    wait_rows(page, ["(without a name)/", "b/", "notes.txt"])
    page.press(".list button", "notes.txt")
    page.wait_text(".inspector .preview", "a line <b>of text</b>")
    page.wait_text(".inspector .facts", "text/plain")
    page.press(".list a", "b/")
    page.press(".list button", "picture.png")
    page.wait("document.querySelector('.preview img')?.naturalWidth === 8")
    page.press(".crumbs a", "all")
    wait_rows(page, ["a/", "top.bin"])
    # A folder without a name is one, too.
    page.press(".list a", "a/")
    page.press(".list a", "(without a name)/")
    wait_rows(page, ["odd.txt"])


def test_files_come_and_go(own):
    server, opened = own
    page = opened("files?ns=default")
    page.wait_text(".teach", "No files yet")
    page.wait("document.querySelector('.lines pre').textContent.includes('/upload/storage/v1/b/')")
    stored(server, "x.txt")
    page = opened(f"files/{BUCKET}?ns=default&in=new%2F")
    page.wait_text(".teach", "Nothing in this folder")
    chosen_files(page, {"one.txt": "1", "two & three.txt": "23"})
    page.wait_notice("Uploaded 2 files")
    wait_rows(page, ["one.txt", "two & three.txt"])
    assert names(server) == ["new/one.txt", "new/two & three.txt", "x.txt"]
    page.press(".list button", "one.txt")
    page.press(".inspector button", "Delete")
    page.press("#dialog button", "Delete")
    page.wait_notice("Deleted one.txt")
    wait_rows(page, ["two & three.txt"])
    stored(server, "new/deep/er.txt")
    page.press(".bar button", "More")
    page.press(".menu button", "Delete this folder …")
    page.wait_text("#dialog", "Delete 2 files?")
    page.press("#dialog button", "Delete")
    page.wait_notice("Deleted 2 files")
    assert names(server) == ["x.txt"]


def test_metadata_and_links_are_changed(own):
    server, opened = own
    stored(server, "notes.txt")
    page = opened(f"files/{BUCKET}?ns=default&file=notes.txt")
    page.wait_text(".inspector .facts", "text/plain")
    page.press(".inspector button", "Change …")
    page.write("#ask-metadata", "[1]")
    page.press("#dialog button", "Change")
    page.wait_text("#ask-metadata-problem", "An object whose values are texts.")
    page.answers("Change", cacheControl="no-cache", metadata='{"by": "ann"}')
    page.wait_notice("Changed")
    page.wait_text(".inspector .facts", "no-cache")
    page.wait_text(".inspector", "ann")
    page.press(".inspector button", "New link")
    page.wait_notice("There is a new link")
    page.wait("document.querySelectorAll('.inspector li').length === 1")
    token = server.get(f"{OBJECTS}/notes.txt", headers=OWNER).json["metadata"]["firebaseStorageDownloadTokens"]
    link = f"/v0/b/{BUCKET}/o/notes.txt?alt=media&token={token}"
    assert server.get(link).text == "hello"
    page.press(".inspector li button", "Take away")
    page.wait_notice("The link leads nowhere any more")
    renewed = server.get(f"{OBJECTS}/notes.txt", headers=OWNER).json["metadata"]
    assert token not in renewed.get("firebaseStorageDownloadTokens", "")
    assert renewed["by"] == "ann"
