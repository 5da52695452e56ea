"""The pages of the console that are about the server, in Chromium: each window fails on any error or policy violation."""

import json
import threading
import time

import pytest

from console_window import console, put
from hearth_server import Hearth
from sample_pages import contrast_faults
from signing import unsigned
from wire_client import Wire

PAGES = {
    "files": "f", "overview": "o", "connections": "c", "cluster": "n", "databases": "t", "backups": "b", "keys": "k", "settings": "s", "log": "l",
    "metrics": "m",
}
UNNAMED = (
    "[...document.querySelectorAll('button, a, input, select, textarea')].filter((e) => e.checkVisibility() && "
    "!(e.ariaLabel || e.innerText?.trim() || e.labels?.length || e.title)).map((e) => e.outerHTML)"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Hearth(data=tmp_path_factory.mktemp("running") / "data") as server:
        yield server


def goes_to(page, name):
    """Goes to a page as a person does at any width."""
    page.wait(f"""(() => {{
        const link = document.querySelector('#rail a[data-page={name}]');
        if (link?.checkVisibility()) return link.click(), true;
        const dialog = document.getElementById('dialog');
        if (!dialog) return document.querySelector('#rail .more').click(), false;
        return dialog.querySelector('button[data-page={name}]').click(), true;
    }})()""")
    page.wait(f"location.pathname.includes('/{name}') && document.querySelector('main section')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 700, 1440])
def test_every_page_can_be_read_in_both_schemes_and_fits(console, server, scheme, width):
    put(server, "look", {"text": "words"})
    page = console("data?ns=default", width=width, height=760, media={"prefers-color-scheme": scheme})
    for name in PAGES:
        goes_to(page, name)
        page.wait_text("#strip", "development: open to this machine")
        page.wait("!document.querySelector('main .problem')?.innerText")
        page.wait({"overview": "document.querySelector('.tile')", "backups": "true"}.get(
            name, "document.querySelector('main tbody tr, main .log-line, main .teach:not([hidden])')"))
        assert page.value("document.documentElement.scrollWidth <= innerWidth"), name
        assert contrast_faults(page) == [], name
        assert page.value(UNNAMED) == [], name


def test_keys_lead_to_each_page_and_stand_in_the_help(console):
    page = console("data?ns=default")
    page.wait("document.querySelector('main section')")
    for name, key in PAGES.items():
        page.value(f"""for (const key of ['g', {json.dumps(key)}])
            document.body.dispatchEvent(new KeyboardEvent('keydown', {{ key, bubbles: true }}))""")
        page.wait(f"location.pathname.endsWith('/{name}')")
        assert page.value("document.querySelector('#rail a[aria-current]').dataset.page") == name
    page.press("#help")
    page.wait_text("#dialog", "g c")
    page.wait_text("#dialog", "Connections")


def test_a_narrow_screen_has_six_entries_and_the_rest_behind_more(console):
    page = console("data?ns=default", width=390, height=700)
    page.wait("document.querySelector('#rail a')")
    visible = "[...document.querySelectorAll('#rail > *')].filter((e) => e.checkVisibility()).map((e) => e.dataset.page ?? 'more')"
    assert page.value(visible) == ["data", "rules", "requests", "users", "files", "overview", "more"]
    page.press("#rail .more")
    assert page.texts("#dialog .more-pages button") == ["Connections", "Cluster", "Databases", "Backups", "Keys", "Settings", "Log", "Metrics", "Audit"]
    page.press("#dialog .more-pages button", "Log")
    page.wait("location.pathname.endsWith('/log') && document.querySelector('#rail .more.chosen')")
    assert page.value("document.querySelector('#rail').getBoundingClientRect().bottom") == 700


def test_the_strip_says_which_rules_are_in_force(console, tmp_path):
    (tmp_path / "rules.json").write_text('{"rules":{".read":true}}')
    with Hearth("--rules", str(tmp_path / "rules.json")) as server:
        server.put("/.settings/rules.json?ns=default", None, raw=b'{"rules":{}}', headers={"Authorization": "Bearer owner"})
        page = console("data?ns=default", of=server)
        page.wait_text("#strip .warning", "rules.json is not used by database default, which has rules of its own (version 1)")
        page.wait_text("#strip .mode", "nothing is kept on disk")


def test_the_overview_shows_the_state_and_the_last_hour(console, server):
    put(server, "some/where", 1)
    page = console("overview?ns=default")
    page.wait_text(".tile", "well")
    page.wait_text(".tile", "writes are refused")
    # The server takes a sample every ten seconds: the first one comes while the page is open.
    page.wait_gone(".quiet", "the first ones are on their way")
    chart = "[...document.querySelectorAll('.chart')].find((e) => e.ariaLabel.startsWith('Memory'))"
    page.wait(f"{chart}.querySelector('.line').getAttribute('d').includes('L')")
    page.value(f"{chart}.focus()")
    page.key("Home")
    page.wait(f"/^Memory: .+: .+B\\./.test({chart}.ariaLabel) && {chart}.querySelector('.cursor')")
    first = page.value(f"{chart}.ariaLabel")
    page.key("End")
    page.wait(f"{chart}.ariaLabel !== {json.dumps(first)}")
    # The same as a table.
    page.value(f"{chart}.parentElement.querySelector('details').open = true")
    page.wait(f"{chart}.parentElement.querySelectorAll('tbody tr').length >= 2")
    assert page.value("[...document.querySelectorAll('.chart')].every((e) => e.tabIndex === 0 && e.ariaLabel)")


def test_a_connection_is_found_and_ended(console, server):
    with Wire(server.port, ns="default") as wire:
        wire.request("auth", cred=unsigned({"sub": "ann", "uid": "ann"}))
        wire.request("q", p="/rooms/1", h="")
        page = console("connections?ns=default")
        page.wait_text(".list", "ann")
        page.wait_text(".list a", "/rooms/1")
        page.write("input[type=search]", "no such text")
        page.key("Enter")
        page.wait_text(".teach", "No such connection")
        page.write("input[type=search]", "ann")
        page.key("Enter")
        page.press(".list button", "of ann")
        page.press("#dialog button", "End")
        page.wait_notice("Ended connection")
        page.wait_text(".teach", "No such connection")
        with pytest.raises(Exception, match="An administrator ended this connection"):
            while True:
                wire.receive()


def test_a_database_is_added_and_shows_what_it_costs(console, server):
    page = console("databases?ns=default")
    page.wait_text(".list", "default")
    page.press(".bar button", "Add database")
    page.answers("Add", name="shop")
    page.wait_notice("Added shop")
    page.wait_text(".list", "shop")
    page.wait("[...document.getElementById('database').options].some(({ value }) => value === 'shop')")
    page.press(".bar button", "Add database")
    page.answers("Add", name="shop")
    page.wait_notice("There is a database 'shop' already.", "alerts")
    page.wait_text(".list", "none: open to everybody")


def test_a_backup_is_made_and_another_is_verified(console, server, tmp_path):
    put(server, "kept", {"a": 1})
    page = console("backups?ns=default")
    page.wait_text("main", "The server keeps no backups itself")
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.press(".bar button", "Download a backup")
    page.wait_text("main", "is with your downloads")
    (made,) = wait_for(lambda: list(tmp_path.glob("hearth-*.backup")))
    for file, words in [(made, "is whole"), (damaged(made), "is no backup to rely on")]:
        root = page.call("DOM.getDocument")["root"]["nodeId"]
        field = page.call("DOM.querySelector", nodeId=root, selector="#backup-file")["nodeId"]
        page.call("DOM.setFileInputFiles", nodeId=field, files=[str(file)])
        page.press("form button", "Verify")
        page.wait_text("main", words)


def damaged(file):
    copy = file.with_name("damaged")
    copy.write_bytes(file.read_bytes()[:-1])
    return copy


def wait_for(look):
    """What `look` finds, once it finds something."""
    deadline = time.monotonic() + 120
    while not (found := look()):
        assert time.monotonic() < deadline
        threading.Event().wait(0.05)
    return found


def test_service_accounts_are_made_and_revoked(console, server, tmp_path):
    page = console("keys?ns=default")
    page.wait_text("main", "None. hearth service-account create")
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.press(".bar button", "Add service account")
    page.answers("Add and download", name="backend")
    page.wait_notice("The key file of backend is with your downloads")
    (file,) = wait_for(lambda: list(tmp_path.glob("backend-service-account.json")))
    assert json.loads(file.read_text())["type"] == "service_account"
    page.wait_text(".list", "backend")
    page.press(".list button", "Revoke backend")
    page.press("#dialog button", "Revoke")
    page.wait_text("main", "None. hearth service-account create")
    page.press(".bar button", "Begin the next key")
    page.press("#dialog button", "Begin")
    page.wait_notice("The next key is published")


def test_settings_are_found_and_say_where_they_come_from(console):
    page = console("settings?ns=default")
    page.write("input[type=search]", "data-dir")
    page.wait("document.querySelectorAll('.list tbody tr').length === 1")
    page.wait_text(".list", "--data-dir")
    page.write("input[type=search]", "")
    page.press("#is-set")
    page.wait_gone(".list", "built in")


def test_the_log_is_live_and_filtered(console, server):
    page = console("log?ns=default")
    page.wait_text(".log", "ready")
    server.request("POST", "/.inspect/databases.json", {"name": "logged"}, {"Authorization": "Bearer owner"})
    page.wait_text(".log", "a database is made")
    page.write("input[aria-label=Database]", "logged")
    page.key("Enter")
    page.wait_gone(".log", "ready")
    page.wait_text(".log", "a database is made")
    assert "database=logged" in page.value("location.search")
    page.value("""(document.querySelector('select[aria-label=Level]').value = 'error',
        document.querySelector('select[aria-label=Level]').dispatchEvent(new Event('change')))""")
    page.wait("!document.querySelector('.log-line') && location.search.includes('level=error')")


def test_metrics_have_their_help_and_are_searched(console):
    page = console("metrics?ns=default")
    page.wait_text(".list", "hearth_commits_total")
    page.write("input[type=search]", "resident")
    page.wait("document.querySelectorAll('.list tbody tr').length === 1")
    page.wait_text(".list", "MB")
    page.write("input[type=search]", "put_acknowledged")
    page.wait_text(".list", "95 in 100")
    page.write("input[type=search]", "there is no such metric")
    page.wait_text(".list", "No metric has that.")
