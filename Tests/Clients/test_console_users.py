"""The page of the users as a person uses it, in Chromium."""

import json

import pytest

from console_window import OWNER, Console
from hearth_server import Hearth

ACCOUNTS = "/identitytoolkit.googleapis.com/v1/projects/hearth/accounts"


def count_of(page, text):
    page.wait(f"document.querySelector('.bar .count').innerText === {text!r}")


def imported(server, users):
    answer = server.request("POST", f"{ACCOUNTS}:batchCreate", {"users": users}, headers=OWNER)
    assert answer.status == 200 and not answer.json.get("error"), answer.text


UIDS = "[...document.querySelectorAll('.list .mono')].map((uid) => uid.innerText).join()"


def uids(page):
    return page.value(UIDS)


@pytest.fixture
def own(browser):
    """A server and a page of users of its own, since accounts are the server's."""
    with Hearth() as server:
        windows = []

        def opened(path="users?ns=default", **options):
            windows.append(Console(browser, server, path, **options))
            return windows[-1]

        yield server, opened
        for each in windows:
            each.check()
            each.close()


def test_users_are_made_given_claims_disabled_and_deleted(own):
    server, opened = own
    page = opened()
    page.wait_text(".teach", "No users yet")
    page.wait("document.querySelector('.lines pre').textContent.includes(`${location.origin}/identitytoolkit`)")
    page.press(".bar button", "Add user")
    page.answers("Add", email="ann@example.com", password="secret12", displayName="Ann <b>")
    page.wait_text(".list", "Ann <b>")
    count_of(page, "1 user")
    page.press(".list button", "ann@example.com")
    page.wait_text(".inspector", "not verified")
    page.wait_text(".inspector .facts", "password")
    page.press(".inspector button", "Disable")
    page.wait_text(".list", "disabled")
    page.press(".inspector button", "Enable")
    page.wait_text(".inspector .facts", "active")
    page.write("#claims", "[1]")
    page.wait_text("#claims-problem", "Claims are an object")
    page.write("#claims", '{"a":"' + "x" * 1000 + '"}')
    page.wait_text("#claims-problem", "at most 1,000 bytes")
    page.write("#claims", '{"role":"editor"}')
    page.press(".inspector button", "Save the claims")
    page.wait_notice("The claims are in the next token")
    page.wait_text(".list code", '{"role":"editor"}')
    page.press(".inspector button", "Sign out everywhere")
    page.wait_notice("ann@example.com is signed out everywhere")
    page.wait_text(".inspector", "Tokens count that were given since")
    page.press(".inspector button", "Delete")
    page.wait_text("#dialog", "Data in the tree stays")
    page.press("#dialog button", "Delete")
    page.wait_text(".teach", "No users yet")
    page.wait_text(".inspector", "There is no such user any more.")


def test_users_are_found_by_how_they_begin(own):
    server, opened = own
    imported(server, [
        {"localId": "u1", "email": "ann@example.com", "displayName": "Ann Zander"},
        {"localId": "u2", "email": "bob@example.com", "phoneNumber": "+4930123"},
        {"localId": "zed", "displayName": "<b>Öz"},
    ])
    page = opened()
    count_of(page, "3 users")
    for text, found in (("ANN@", "u1"), ("+49", "u2"), ("z", "zed,u1"), ("<b>ö", "zed"), ("nobody", "")):
        page.write("input[type=search]", text)
        page.key("Enter")
        page.wait(f"new URLSearchParams(location.search).get('find') === {text!r}")
        # The count alone may be that of the search before.
        page.wait(f"{UIDS} === {found!r}")
        count_of(page, f"{len(found.split(',')) if found else 0} found")
    page.wait_text(".teach", "No such user")


def test_a_hundred_thousand_users_are_paged_through(own):
    server, opened = own
    for first in range(0, 100_000, 1000):
        imported(server, [{"localId": f"u{number:06}", "email": f"p{number:06}@example.com"} for number in range(first, first + 1000)])
    page = opened()
    count_of(page, "100,000 users")
    page.press(".bar button", "Next page")
    page.wait("document.querySelector('.list .mono').innerText === 'u000100'")
    assert page.value("document.querySelectorAll('.list tbody tr').length") == 100
    page.press(".bar button", "First page")
    page.wait("document.querySelector('.list .mono').innerText === 'u000000'")
    page.write("input[type=search]", "p09999")
    page.key("Enter")
    count_of(page, "10 found")
    page.write("input[type=search]", "p09")
    page.key("Enter")
    count_of(page, "100 or more found")


def test_accounts_go_to_a_file_and_come_from_one(own, tmp_path):
    server, opened = own
    imported(server, [{"localId": "ann", "email": "ann@example.com", "displayName": "Ann", "customAttributes": '{"a":1}'}])
    page = opened()
    page.browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    count_of(page, "1 user")
    page.press(".bar button", "More")
    page.press(".menu button", "Export")
    page.wait_text("#dialog", "1 accounts")
    page.wait_text("#dialog", "hashes of passwords")
    page.press("#dialog button", "Close")
    page.wait("!document.querySelector('dialog')")
    file = tmp_path / "users.json"
    while not file.exists():
        page.value("1")
    exported = json.loads(file.read_text())
    assert [user["localId"] for user in exported["users"]] == ["ann"] and exported["users"][0]["customAttributes"] == '{"a":1}'
    users = exported["users"] + [{"localId": "bob", "email": "no address"}, {"localId": "cid", "email": "cid@example.com"}]
    (tmp_path / "more.json").write_text(json.dumps({"users": users}))
    page.call("Page.setInterceptFileChooserDialog", enabled=True)
    page.press(".bar button", "More")
    # The page makes the field for files when it asks.
    page.value("""(() => {
        const original = HTMLInputElement.prototype.click;
        HTMLInputElement.prototype.click = function () { document.body.append(this); this.id = "picked"; this.hidden = true; };
        window.restore = () => (HTMLInputElement.prototype.click = original);
    })()""")
    page.press(".menu button", "Import")
    page.value("restore()")
    document = page.call("DOM.getDocument")["root"]["nodeId"]
    node = page.call("DOM.querySelector", nodeId=document, selector="#picked")["nodeId"]
    page.call("DOM.setFileInputFiles", nodeId=node, files=[str(tmp_path / "more.json")])
    page.answers("Import")
    page.wait_text("#dialog", "3 of 3: 1 taken in, 1 were there, 1 refused")
    page.wait_text("#dialog .error", "users[1] bob:")
    page.press("#dialog button", "Close")
    count_of(page, "2 users")


CONNECTIONS = {
    "connections": [
        {"id": "7", "door": "WebSocket", "database": "main", "uid": "ann", "since": 1763812345000},
        # Only the text of the search fits.
        {"id": "8", "door": "WebSocket", "database": "main", "uid": "anna", "since": 1763812345000},
    ]
}


def test_the_open_connections_of_a_user_are_listed(own):
    server, opened = own
    imported(server, [{"localId": "ann", "email": "ann@example.com"}])
    page = opened()
    count_of(page, "1 user")
    page.value(f"""void (window.fetch = ((original) => (address, options) => address.startsWith('/.inspect/connections.json?text=ann&')
        ? Promise.resolve(new Response({json.dumps(json.dumps(CONNECTIONS))})) : original(address, options))(window.fetch))""")
    page.press(".list button", "ann@example.com")
    page.wait_text(".inspector li", "connection 7 WebSocket to main since")
    assert page.value("document.querySelectorAll('.inspector li').length") == 1
