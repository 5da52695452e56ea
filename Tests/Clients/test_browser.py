"""What pages can do in a real browser: every door open to those that may, shut to those that may not."""

import base64
import os

import pytest

from browser import STRANGER, serving_pages
from hearth_server import Hearth
from wire_client import Wire


@pytest.fixture(scope="module")
def pages():
    with serving_pages() as port:
        yield port


def open_doors(browser, pages, server, ns, host="localhost", more=""):
    """Opens the page that knocks at all doors of a server; gives its tab."""
    where = f"server=127.0.0.1:{server.port}&ns={ns}{more}"
    return browser.open(f"http://{host}:{pages}/doors.html?{where}")


def refused_count(server):
    for line in server.get("/.metrics").text.splitlines():
        if line.startswith("hearth_transport_refused_requests_total "):
            return float(line.split()[1])
    raise AssertionError("no metric")


def check_all(outcome, server, ns):
    """Every door was open, and behind it was what should be."""
    fetched = outcome["fetch"]
    assert fetched == {
        "first": {"status": 200, "value": None},
        "hasETag": True,
        "put": {"status": 200, "value": "one"},
        "stale": {"status": 412, "value": "one"},
        "staleETag": True,
        "gone": {"status": 200, "value": None},
    }
    assert outcome["events"] == [
        {"event": "put", "data": {"path": "/", "data": None}},
        {"event": "put", "data": {"path": "/a", "data": "tea"}},
        {"event": "patch", "data": {"path": "/", "data": {"b": 1, "c": 2}}},
    ]
    polled = outcome["poll"]
    assert polled == {
        "version": "5",
        "host": f"127.0.0.1:{server.port}",
        "listen": {"reply": {"s": "ok", "d": {}}, "pushes": []},
        "put": {"s": "ok", "d": ""},
        "isSame": True,
        "upgrade": [
            "socket a",
            "socket o",
            "socket o",
            "poll n",
            "socket d poll/moved",
            "socket ok",
            "the server closed the session",
            "socket still here",
        ],
    }
    assert outcome["socket"] == "h"
    # The session ended with its WebSocket.
    assert server.get(f"/poll/gone.json?ns={ns}").json == ns


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_local_page_comes_in_by_every_door(browser, pages, dev, host):
    tab = open_doors(browser, pages, dev, "local", host)
    check_all(browser.outcome(tab), dev, "local")
    assert refused_count(dev) == 0
    if folder := os.environ.get("SCREENSHOTS"):
        picture = browser.call("Page.captureScreenshot", tab)["data"]
        with open(os.path.join(folder, f"doors-{host}.png"), "wb") as file:
            file.write(base64.b64decode(picture))


def test_a_page_of_another_origin_comes_in_by_none(browser, pages, dev):
    outcome = browser.outcome(open_doors(browser, pages, dev, "stranger", STRANGER))
    assert outcome == {
        "fetch": {"error": "Failed to fetch"},
        "events": {"error": "the event source failed"},
        "poll": {"error": "a script did not load"},
        "socket": {"error": "the socket failed"},
    }
    # A request that needs no preflight is refused as well, and tells the page's author what to do.
    tab = open_doors(browser, pages, dev, "stranger", STRANGER, "&stay=1")
    answer = browser.value(tab, f"fetch('http://127.0.0.1:{dev.port}/a.json').then((answer) => answer.text())")
    assert f"start hearth with --allow-origin http://{STRANGER}:{pages}." in answer
    # It was the server that refused, not the browser that could not reach it.
    assert refused_count(dev) >= 4
    assert dev.get("/.json?ns=stranger").json is None


def test_a_page_of_an_origin_that_is_allowed_comes_in_by_every_door(browser, pages):
    with Hearth("--allow-origin", f"http://{STRANGER}:{pages}") as server:
        outcome = browser.outcome(open_doors(browser, pages, server, "listed", STRANGER))
        check_all(outcome, server, "listed")
        # The same site at another port is another origin.
        with serving_pages() as other:
            outcome = browser.outcome(open_doors(browser, other, server, "other", STRANGER))
            assert all("error" in door for door in outcome.values()), outcome


@pytest.mark.parametrize("leave", ["navigate", "close"])
def test_a_page_that_goes_says_goodbye(browser, pages, dev, leave):
    with Wire(dev.port, leave) as other:
        tab = open_doors(browser, pages, dev, leave, more="&stay=1")
        assert browser.outcome(tab)["poll"]["stays"]
        assert other.request("q", p="/poll/gone", h="")[1] == []
        # The session would end by itself after a minute of silence; no test waits that long.
        if leave == "navigate":
            browser.call("Page.navigate", tab, url="about:blank")
        else:
            browser.call("Page.close", tab)
        assert other.push()["b"] == {"p": "poll/gone", "d": leave}
