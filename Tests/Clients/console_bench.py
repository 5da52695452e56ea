"""Measures the console over a million children: what a person waits for, and what other clients notice (scripts/bench-console)."""

import os
import statistics
import tempfile
import time
from pathlib import Path

from browser import Browser
from console_window import OWNER, Console, put
from event_client import Events
from hearth_server import Hearth

CHILDREN = 1_000_000
ROUNDS = int(os.environ.get("ROUNDS", "5"))
JUMPS = 20
CHANGES = 20
PUTS = 1_000

# Runs in the page: `until(look)` waits, frame by frame, until something is drawn.
TOOLS = """window.until = async (look) => { while (!look()) await new Promise(requestAnimationFrame); };
window.row = (key) => [...document.querySelectorAll('.row')].find((row) => row.querySelector('.name')?.textContent === key);
window.keyOf = (index) => `k${String(index).padStart(7, '0')}`;
window.timed = async (work, look) => { const start = performance.now(); work(); await until(look); return performance.now() - start; };"""


def family(pid):
    """A process and all that have come from it."""
    found = [pid]
    for process in found:
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            found += map(int, children.read_text().split())
    return found


def pin(pid, cores):
    """Keeps all threads of a process on these cores."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), cores)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


class Bench:
    def __init__(self, server, browser):
        self.server = server
        self.browser = browser

    def page(self, path):
        page = Console(self.browser, self.server, path, width=1280, height=800)
        page.wait("document.getElementById('connection').dataset.state === 'online'")
        page.value(TOOLS)
        return page

    def first_rows(self):
        """From the click that opens the node to its first row."""
        page = self.page("data?ns=default")
        page.shows("million")
        took = page.value("timed(() => row('million').querySelector('.twisty').click(), () => row(keyOf(0)))")
        page.close()
        return took

    def jumps(self, page):
        """From moving the scroll bar to the rows that belong there."""
        return page.value(
            f"""(async () => {{
                const tree = document.querySelector('.tree');
                const took = [];
                for (let turn = 0; turn < {JUMPS}; turn += 1) {{
                    const index = Math.floor(Math.random() * ({CHILDREN} - 100));
                    took.push(await timed(() => (tree.scrollTop = (index + 1) * 26), () => row(keyOf(index + 5)) && !document.querySelector('.row .waiting')));
                }}
                return took;
            }})()"""
        )

    def changes(self, page):
        """From sending a write to its value in the page."""
        return page.value(
            f"""(async () => {{
                const tree = document.querySelector('.tree');
                tree.scrollTop = 0;
                await until(() => row(keyOf(3)));
                const took = [];
                for (let turn = 0; turn < {CHANGES}; turn += 1) {{
                    const send = () => fetch(`/million/${{keyOf(3)}}.json?ns=default&print=silent`, {{ method: 'PUT', body: `"change ${{turn}}"`, headers: {{ Authorization: 'Bearer owner' }} }});
                    took.push(await timed(send, () => row(keyOf(3))?.innerText.includes(`change ${{turn}}"`)));
                }}
                return took;
            }})()"""
        )

    def memory(self, page):
        """Bytes of the page's heap: as it stands after the work, before anything is collected."""
        return page.value("performance.memory.usedJSHeapSize")

    def latencies(self):
        """Of puts of one client, until another has the event, in milliseconds."""
        took = []
        with Events(self.server.port, ns="default") as writer, Events(self.server.port, ns="default") as reader:
            reader.request("observe", path="/beside", events=["value"])
            for number in range(PUTS):
                start = time.perf_counter()
                writer.send("set", path="/beside", value=number + 1)
                while reader.receive().get("value") != number + 1:
                    pass
                took.append((time.perf_counter() - start) * 1000)
                writer.receive()
        return took

    def keep_apart(self):
        """Leaves the browser one core, and the server with its other clients the rest: a person's browser is on another machine."""
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < 2:
            raise SystemExit("bench-console: a second core is missing, so the browser would slow the other clients itself")
        for pid in family(self.browser.process.pid):
            pin(pid, cores[-1:])
        for pid in (self.server.process.pid, os.getpid()):
            pin(pid, cores[:-1])

    def beside(self):
        """The 99th percentile of others' puts: alone, and while the page is scrolled ten times a second."""
        alone = percentile(self.latencies(), 0.99)
        page = self.page("data/million?ns=default")
        page.shows("k0000000")
        page.value(f"void setInterval(() => (document.querySelector('.tree').scrollTop = Math.random() * {CHILDREN} * 26), 100)")
        together = percentile(self.latencies(), 0.99)
        page.close()
        return alone, together


def fill(server):
    members = ",".join(f'"k{number:07}":{{"n":{number},"text":"record {number}"}}' for number in range(CHILDREN))
    answer = server.put("/million.json?ns=default&print=silent", None, raw=f"{{{members}}}".encode(), headers=OWNER)
    assert answer.status == 204, answer.text
    put(server, "beside", 0)


def main():
    with tempfile.TemporaryDirectory() as place, Hearth() as server, Browser(Path(place)) as browser:
        fill(server)
        bench = Bench(server, browser)
        bench.first_rows()
        first = [bench.first_rows() for _ in range(ROUNDS)]
        page = bench.page("data/million?ns=default")
        page.shows("k0000000")
        jumps = [each for _ in range(ROUNDS) for each in bench.jumps(page)]
        changes = [each for _ in range(ROUNDS) for each in bench.changes(page)]
        memory = bench.memory(page) / 1e6
        page.check()
        page.close()
        bench.keep_apart()
        beside = [bench.beside() for _ in range(ROUNDS)]
        ratio = statistics.median(together / alone for alone, together in beside)
    rows = [
        ("first rows after the click", statistics.median(first), max(first), 300, "ms"),
        ("rows after scrolling anywhere", statistics.median(jumps), max(jumps), 200, "ms"),
        ("a change, from the write to the page", statistics.median(changes), max(changes), 100, "ms"),
        ("memory of the page", memory, memory, 150, "MB"),
        ("others' p99 of put to listener, beside it / alone", ratio, max(together / alone for alone, together in beside), 1.2, "x"),
    ]
    print(f"The console over {CHILDREN:,} children, {ROUNDS} rounds; load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print("| | median | worst | goal |\n| --- | --- | --- | --- |")
    for words, median, worst, goal, unit in rows:
        print(f"| {words} | {median:.3g} {unit} | {worst:.3g} {unit} | {goal} {unit} |")
    for alone, together in beside:
        print(f"\np99 of put to listener: alone {alone:.2f} ms, beside the page {together:.2f} ms", end="")
    print()


if __name__ == "__main__":
    main()
