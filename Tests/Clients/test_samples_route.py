"""The sample pages as the server hands them out, and the setting that asks for them."""

import json
import os
import re
import subprocess

import pytest

from hearth_server import BINARY, ROOT, Hearth

PAGES = ROOT / "Sources" / "Server" / "CPages" / "Pages" / "samples"
COLOURS = PAGES.parent / "colours.css"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}


def address(file):
    """Pages are asked for without their suffix."""
    if file.suffix != ".html":
        return "/.samples/" + file.name
    return "/.samples/" + ("" if file.stem == "index" else file.stem)


@pytest.fixture(scope="module")
def server():
    with Hearth("--samples") as server:
        yield server


@pytest.mark.parametrize("file", sorted(PAGES.iterdir()), ids=lambda file: file.name)
def test_every_file_is_served_as_it_is(server, file):
    answer = server.get(address(file))
    assert answer.status == 200
    # The style begins with the colours that the console has too.
    assert answer.body == (COLOURS.read_bytes() if file.name == "style.css" else b"") + file.read_bytes()
    assert answer.headers["Content-Type"] == TYPES[file.suffix]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-cache"
    policy = dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in str(policy)


def test_no_page_needs_what_its_policy_forbids():
    for file in PAGES.glob("*.html"):
        text = file.read_text()
        assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=", text), file
    for file in PAGES.glob("*.js"):
        forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser"
        assert not re.search(forbidden, file.read_text()), file


def test_who_has_it_already_is_reported_so(server):
    first = server.get("/.samples/chat")
    tag = first.headers["ETag"]
    for known in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        answer = server.get("/.samples/chat", headers={"If-None-Match": known})
        assert (answer.status, answer.body, answer.headers["ETag"]) == (304, b"", tag)
    assert server.get("/.samples/chat", headers={"If-None-Match": '"other"'}).status == 200
    assert server.get("/.samples/party").headers["ETag"] != tag


def test_head_has_no_body(server):
    whole = server.get("/.samples/style.css")
    head = server.request("HEAD", "/.samples/style.css")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["Content-Length"] == str(len(whole.body))
    assert head.headers["ETag"] == whole.headers["ETag"]


@pytest.mark.parametrize("method", ["PUT", "POST", "PATCH", "DELETE"])
def test_nothing_else_can_be_done_to_them(server, method):
    answer = server.request(method, "/.samples/chat", body={})
    assert answer.status == 405
    assert answer.headers["Allow"].startswith("GET, HEAD")


@pytest.mark.parametrize("name", ["nothing", "chat.html", "chat/", "chat/more", "../rules/social.json", "social"])
def test_what_is_not_there_is_not_found(server, name):
    answer = server.get("/.samples/" + name)
    expected = 200 if name == "chat/" else 404
    assert answer.status == expected
    if expected == 404:
        assert "/.samples/ lists those that are" in answer.text


def test_they_are_off_unless_they_are_asked_for(dev):
    for path in ("/.samples", "/.samples/", "/.samples/chat", "/.samples/nothing"):
        answer = dev.get(path)
        assert answer.status == 404
        assert "--dev --samples" in answer.text
    assert "samples=" not in dev.ready


def test_the_ready_line_says_where_they_are(server):
    assert f" samples={server.address}/.samples/" in server.ready


def names(server):
    return [entry["name"] for entry in server.get("/.inspect/databases.json?ns=any").json]


def rules(server, database):
    return server.get(f"/.settings/rules.json?ns={database}").text


def test_their_databases_have_the_sample_rules(server):
    assert {"social", "party", "default"} <= set(names(server))
    for name in ("social", "party"):
        assert rules(server, name).strip() == (ROOT / "rules" / f"{name}.json").read_text().strip()
    # Others' do not.
    assert server.get("/.json?ns=default").status == 200
    assert server.get("/.json?ns=social").status == 401
    assert server.get("/.json?ns=party").status == 401


def test_rules_of_ones_own_come_first(tmp_path):
    own = tmp_path / "own.json"
    own.write_text('{"rules": {".read": true}}')
    data = tmp_path / "data"
    with Hearth("--samples", "--database", f"social={own}", "--rules", str(own), data=data) as server:
        assert server.get("/.json?ns=social").status == 200
        assert server.get("/.json?ns=party").status == 401
        put = server.put("/.settings/rules.json?ns=party", {"rules": {".read": True}})
        assert put.status == 200
        assert server.stop() == 0
        server.start()
        assert server.get("/.json?ns=party").status == 200


def run(*flags, env=None):
    return subprocess.run(
        [BINARY, *flags],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "HEARTH_CONFIG": "", **(env or {})},
    )


def test_a_production_server_has_none(tmp_path):
    ended = run("serve", "--samples", "--port", "0", "--data-dir", str(tmp_path / "data"))
    assert ended.returncode == 2
    assert "error: --samples: serves pages" in ended.stderr and "add --dev" in ended.stderr


@pytest.mark.parametrize("way", ["flag", "variable", "file"])
def test_the_setting_is_a_flag_a_variable_and_a_member(tmp_path, way):
    file = tmp_path / "hearth.json"
    file.write_text('{"dev": true, "memory": true' + (', "samples": true}' if way == "file" else "}"))
    flags = ["--samples"] if way == "flag" else []
    env = {"HEARTH_SAMPLES": "true"} if way == "variable" else {}
    ended = run("check", "--json", "--config", str(file), *flags, env=env)
    assert ended.returncode == 0, ended.stderr
    report = json.loads(ended.stdout)
    [setting] = [entry for entry in report["settings"] if entry["name"] == "samples"]
    assert setting["value"] == "true"
    assert setting["place"] == {"flag": "--samples", "variable": "HEARTH_SAMPLES"}.get(way, setting["place"])
    assert "databases with the sample rules: social, party" in report["facts"]
    off = json.loads(run("check", "--json", "--config", str(file), "--no-samples", env=env).stdout)
    assert [entry["value"] for entry in off["settings"] if entry["name"] == "samples"] == ["false"]
