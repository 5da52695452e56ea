"""The search of the page of the data."""

import pytest

from console_window import console, put
from hearth_server import Hearth

HITS = "[...document.querySelectorAll('.hits li')].map((hit) => hit.innerText.replace(/\\s+/g, ' ').trim())"


@pytest.fixture(scope="module")
def server():
    with Hearth() as server:
        yield server


def test_the_page_shows_hits_and_leads_to_them(console, server):
    put(server, "cafe", {"menu": {"m1": {"name": "Green <b>tea</b>"}, "m2": {"name": "Cake"}}, "tea": {"a": 1, "b": 2}})
    page = console("data/cafe?ns=default")
    page.shows("tea")
    page.press(".bar button", "Search")
    page.wait("document.activeElement.name === 'find'")
    page.write("input[name=find]", "TEA")
    page.key("Enter")
    page.wait(f"""{HITS}.join('; ') === '/menu/m1/name "Green <b>tea</b>"; /tea {{2}}'""")
    page.wait_text(".search [role=status]", "2 found, 9 looked at.")
    assert page.value("[...document.querySelectorAll('.hits mark')].map((mark) => mark.innerText).join()") == "tea,tea"
    assert "find=TEA" in page.value("location.search")
    page.press(".hits a", "/menu/m1/name")
    page.wait("location.pathname.endsWith('/data/cafe/menu/m1')")
    page.wait("document.querySelector('.row[aria-selected=true] .name').textContent === 'name'")
    # What was found stays, and the address of a search is a search.
    page.wait(f"{HITS}.length === 2")
    page.value("history.back()")
    page.wait("location.search.includes('find=TEA')")
    page.reload()
    page.wait(f"{HITS}.length === 2")
    # The palette leads to a search of everything.
    page.key("k", modifiers=2)
    page.write("#palette-field", "green")
    page.press(".palette li", "Find green in keys and values")
    page.wait(f"{HITS}.join() === '/cafe/menu/m1/name \"Green <b>tea</b>\"'")
    page.press(".search button", "Close")
    page.wait("!location.search.includes('find') && !document.querySelector('.search').checkVisibility()")


def test_the_page_shows_how_far_it_is_and_stops(console, server):
    put(server, "many", {f"k{number:06}": {"n": number, "text": f"record {number}"} for number in range(60_000)})
    page = console("data/many?ns=default&find=record")
    page.wait(f"{HITS}.length === 1000")
    page.wait_text(".search [role=status]", "1,000 found")
    page.wait_text(".search [role=status]", "The first 1,000 are shown")
    page.call("Network.enable")
    page.call("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=8_000, uploadThroughput=-1)
    page.press(".search button", "Search")
    page.wait(f"{HITS}.length > 0 && {HITS}.length < 1000")
    page.press(".search button", "Stop")
    page.wait_text(".search [role=status]", ": stopped.")
    page.call("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    page.wait(f"({HITS}.length > 0 && {HITS}.length < 1000) && !document.querySelector('.search button[hidden]')?.checkVisibility()")
    page.press(".hits a", "/k000000/text")
    page.wait("location.pathname.endsWith('/many/k000000')")
