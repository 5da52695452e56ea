"""The page of the rules for files as a person uses it, in Chromium."""

import pytest

from console_window import OWNER, Console, console
from file_requests import place, signed_in
from hearth_server import Hearth
from sample_pages import contrast_faults

SETTINGS = "/.settings/rules.json?service=files"
RULES = """rules_version = '2';
service firebase.storage {
  match /b/{bucket}/o/users/{uid}/{file} {
    allow get: if request.auth.uid == uid;
  }
}
"""
PUBLISH = "[...document.querySelectorAll('button')].find((b) => b.textContent === 'Publish')"


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


def test_rules_for_files_are_edited_checked_tried_and_published(console, server):
    page = console("rules")
    page.press(".bar a", "Rules for files")
    page.wait_text("h1", "Rules for files")
    page.wait_text(".main-part > .quiet", "In force for every bucket without a rules file of its own: none: open to everybody.")
    field = "textarea.code"
    page.write(field, RULES.replace("== uid", "== user"))
    page.wait_text(".faults .error", "4:39: Unknown name 'user'.")
    assert page.value(f"{PUBLISH}.disabled")
    page.write(field, RULES)
    page.wait(f"!{PUBLISH}.disabled && !document.querySelector('.faults li')")
    # Tried before it counts.
    page.write("#try-file-bucket", "demo")
    page.write("#try-file-path", "users/ann/a.png")
    page.write("#try-file-auth", '{"uid":"bob"}')
    page.press(".simulator button", "Try with this text")
    page.wait_text(".explanation", 'request.auth.uid is "bob"')
    page.press(".bar button", "Publish")
    page.press("#dialog button", "Publish")
    page.wait_notice("Published: they are in force")
    assert server.get(SETTINGS, headers=OWNER).text == RULES
    page.wait_text(".main-part > .quiet", "version 1 of its own")
    # Another version, and back to the first one.
    assert server.put(SETTINGS, None, raw=RULES.replace("get", "read").encode(), headers=OWNER).status == 200
    page.press(".bar button", "Read anew")
    page.wait_text(".history", "Version 2")
    page.press(".history button", "Go back")
    page.press("#dialog button", "Go back")
    page.wait_notice("Version 1 is in force again, as a new one")
    assert server.get(SETTINGS, headers=OWNER).text == RULES
    page.press(".bar a", "Rules of the database")
    page.wait_text("h1", "Rules")
    page.wait("document.querySelector('textarea.code').ariaLabel === 'Rules' && document.querySelector('textarea.code').value.includes('rules')")


def test_the_counts_of_rules_for_files_are_shown_and_begin_anew(console, server):
    assert server.put(SETTINGS, None, raw=RULES.encode(), headers=OWNER).status == 200
    page = console("rules?service=files")
    page.press(".bar button", "Coverage")
    page.wait_text(".rule.never", "allow get: if request.auth.uid == uid")
    assert "coverage=true" in page.value("location.search")
    for uid in ("ann", "bob"):
        server.get(place("users/ann/a.png"), headers=signed_in(uid))
    page.press("#rail a", "Requests")
    page.call("Page.navigate", url=page.address)
    page.press(".bar button", "Coverage")
    page.wait_text(".rule.both", "allow get: if request.auth.uid == uid")
    assert contrast_faults(page) == []
    page.press(".inspector button", "Count anew")
    page.wait_text(".rule.never", "allow get: if request.auth.uid == uid")
    page.press(".bar button", "Coverage")
    page.wait("document.querySelector('textarea.code').checkVisibility()")
    assert server.request("DELETE", SETTINGS, headers=OWNER).status == 200


@pytest.mark.parametrize("width", [1440, 390])
def test_shadow_rules_meet_real_requests_for_files_and_nothing_depends_on_them(console, server, width):
    assert server.put(SETTINGS, None, raw=RULES.encode(), headers=OWNER).status == 200
    page = console("rules?service=files", width=width)
    page.wait("document.querySelector('textarea.code').value.includes('users')")
    page.write("textarea.code", RULES.replace("request.auth.uid == uid", "request.auth.uid == 'bob'"))
    page.press(".simulator button", "Try this text beside them")
    page.wait_text("[aria-label='Shadow rules']", "Of 0 requests")
    assert server.get(place("users/ann/a.png"), headers=signed_in("ann")).status == 404
    assert server.get(place("users/ann/a.png"), headers=signed_in("bob")).status == 403
    page.wait_text("[aria-label='Shadow rules']", "Of 2 requests since just now: 1 newly allowed, 1 newly refused.")
    page.wait_text(".shadowed", "shadow: allow get /b/{bucket}/o/users/{uid}/{file} line 4: request.auth.uid == 'bob'")
    page.value("document.querySelectorAll('.shadowed details').forEach((each) => each.open = true)")
    page.wait_text(".shadowed details", "demo.appspot.com/users/ann/a.png bob")
    # The text of the editor is drawn behind its field.
    assert contrast_faults(page) == ["TEXTAREA.code: 1.00"]
    assert page.value("document.documentElement.scrollWidth <= innerWidth")
    page.press(".bar button", "Publish")
    page.wait_text("#dialog", "This text runs as shadow rules. Of 2 requests")
    page.press("#dialog button", "Cancel")
    page.press(".simulator button", "Count anew")
    page.wait_text("[aria-label='Shadow rules']", "Of 0 requests")
    page.press(".simulator button", "Stop")
    page.wait("[...document.querySelectorAll('.simulator button')].some((button) => button.innerText === 'Try this text beside them')")
    assert server.get("/.settings/ruleset_labels.json?service=files", headers=OWNER).json == {}
    assert server.get(SETTINGS, headers=OWNER).text == RULES
    assert server.request("DELETE", SETTINGS, headers=OWNER).status == 200
