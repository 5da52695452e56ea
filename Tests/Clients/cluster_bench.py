"""What clients have of a server that is alone, of the owner of a group, and of a node that follows; run by scripts/bench-cluster."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cluster_nodes import PATIENCE, Cluster
from hearth_server import Hearth
from nats_brokers import Brokers

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = int(os.environ.get("ROUNDS", "3"))
SECONDS = "2"
LISTENERS = "500"


def build(folder):
    """The driver, compiled."""
    sources, binary = ROOT / "Tests" / "Benchmarks" / "Load", folder / "rtload"
    names = ["rtload.c", "protocol.c", "queries.c", "timelines.c", "figures.c", "inbox.c"]
    subprocess.run(["cc", "-O2", "-o", binary, *[sources / name for name in names], "-lm"], check=True)
    return binary


def load(binary, mode, port, *options):
    # Each has a topic of its own: what a listener is sent first is small.
    topic = f"{mode}-{time.monotonic_ns()}"
    done = subprocess.run([binary, mode, "hearth", str(port), "--topic", topic, *options], stdout=subprocess.PIPE, text=True, timeout=PATIENCE)
    if done.returncode:
        sys.exit(f"{mode} at {port} failed")
    return json.loads(done.stdout)


def seconds(process):
    """Processor time of a process so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(binary, port, processes, figures):
    """One round at one place. `processes` by name: the one that decides writes first, then others that have them, too."""
    one = load(binary, "write", port, "--clients", "1", "--seconds", SECONDS)
    before = [seconds(process) for process in processes.values()]
    many = load(binary, "write", port, "--clients", "64", "--seconds", SECONDS)
    spent = [(seconds(process) - begun) / many["writes"] for process, begun in zip(processes.values(), before)]
    delay = load(binary, "latency", port, "--clients", "1", "--rate", "50", "--seconds", SECONDS)
    owner = next(iter(processes.values()))
    begun = seconds(owner)
    fan = load(binary, "fanout", port, "--clients", LISTENERS, "--messages", "400", "--window", "8")
    rows = [
        ("writes/s of one writer", one["writes_per_s"]), ("writes/s of 64 writers", many["writes_per_s"]),
        *[(f"processor of {name} for a write of 64 writers, us", each * 1e6) for name, each in zip(processes, spent)],
        ("put to listener, p50 ms", delay["p50_us"] / 1000), ("put to listener, p99 ms", delay["p99_us"] / 1000),
        (f"deliveries/s to {LISTENERS} listeners", fan["deliveries_per_s"]),
        ("processor of the owner for a delivery, us", (seconds(owner) - begun) / fan["deliveries"] * 1e6),
    ]
    for name, value in rows:
        figures.setdefault(name, []).append(value)


def main():
    with tempfile.TemporaryDirectory(prefix="hearth-bench-") as folder:
        compare(Path(folder))


def compare(folder):
    binary = build(folder)
    brokers = Brokers()
    cluster = Cluster(brokers, folder / "nodes")
    alone = Hearth(data=folder / "alone")
    try:
        owner = cluster.owner()
        cluster.until_all(lambda status: "owner" in status, "an owner that every node knows")
        other = next(number for number in cluster.running() if number != owner)
        group = {
            "the owner": cluster.nodes[owner].process, "a follower": cluster.nodes[other].process,
            "the leading broker": brokers.processes[brokers.leader("LOG_main")],
        }
        places = {
            "alone": (alone.port, {"the owner": alone.process}), "at the owner": (cluster.ports[owner], group),
            "at a follower": (cluster.ports[other], group),
        }
        figures = {place: {} for place in places}
        for _ in range(ROUNDS):
            for place, (port, processes) in places.items():
                measure(binary, port, processes, figures[place])
            if cluster.owner() != owner:
                sys.exit("the owner changed")
    finally:
        alone.__exit__()
        cluster.stop()
        brokers.stop()
    print(f"| medians of {ROUNDS} rounds in turn | " + " | ".join(figures) + " |\n| --- |" + " --- |" * len(figures))
    for name in figures["at the owner"]:
        medians = [statistics.median(found[name]) if name in found else None for found in figures.values()]
        print(f"| {name} | " + " | ".join("" if value is None else f"{value:,.2f}" for value in medians) + " |")


if __name__ == "__main__":
    main()
