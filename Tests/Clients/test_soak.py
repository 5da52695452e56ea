"""A server under random writes that is ended or killed again and again, with checkpoints, backups and restores between;
its tree is compared with a twin each time.

One short round in the gate. HEARTH_SOAK_MINUTES makes it as long as that, with an end a minute; SEED repeats a run.
"""

import os
import threading
import time

import vocabulary
from hearth_server import Hearth
from storage_twin import List, compare, export, same, top
from test_backup import run
from test_kills import await_checkpoint, fill, names, promise, put_bulk

MINUTES = float(os.environ.get("HEARTH_SOAK_MINUTES", 0))
WRITERS = 3


def back_up(server, folder, name):
    """A backup that verifies and restores; returns the folder that came of it."""
    file, restored = folder / f"{name}.backup", folder / name
    for words in [
        ("backup", "--url", server.address, file), ("backup", "--verify", file),
        ("restore", file, "--data-dir", restored), ("log", "verify", restored),
    ]:
        result = run(*words)
        assert result.returncode == 0, (words, result.stderr)
    file.unlink()
    return restored


def remove(folder):
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()


def round_of(server, data, lists, chance, number, end, totals, others, folder):
    """Writes until the time `end`, a checkpoint and a hot backup among it, then ends the server and compares."""
    others["bulk"] = put_bulk(server, chance)
    before = names(data)
    fill(server, number, range(3))
    for one in lists:
        one.start()
    for one in lists:
        assert one.begun.wait(60)
    fill(server, number, [3])
    await_checkpoint(data, before, isWhole=number % 2 == 0)
    totals["checkpoints"] += 1
    hot = back_up(server, folder, f"hot{number}")
    with Hearth(data=hot) as copy:
        # Its writers went on meanwhile: what a list holds there was written by it.
        assert same(export(copy, "bulk"), others["bulk"]), number
        assert top(copy) <= {*(one.name for one in lists), *others, "filling"}
    remove(hot)
    threading.Event().wait(max(0, end - time.monotonic()))
    isKill = chance.random() < 0.5
    client = promise(server, number) if isKill else None
    if isKill:
        server.kill()
        client.close()
        others.setdefault("promised", {})[str(number)] = {"n": number, "t": "gone", ".priority": "p" * 600}
    else:
        for one in lists:
            one.stopped.set()
        for one in lists:
            one.join(60)
        assert server.stop() == 0
    for one in lists:
        one.join(60)
        totals["writes"] += one.count
    server.start()
    totals["kills" if isKill else "ends"] += 1
    faults = compare(server, lists, others)
    assert not faults, (number, faults, server.log_text[-2000:])
    # Nobody writes now: a backup holds the very same.
    quiet = back_up(server, folder, f"quiet{number}")
    with Hearth(data=quiet) as copy:
        assert top(copy) == top(server)
        for name in top(server):
            assert export(copy, name) == export(server, name), (number, name)
        totals["restores"] += 1
    remove(quiet)


def test_the_tree_is_its_twin_through_ends_kills_checkpoints_and_backups(tmp_path):
    chance = vocabulary.drawn()
    data = tmp_path / "data"
    lists = [List(f"w{index}", chance.random()) for index in range(WRITERS)]
    totals = dict.fromkeys(["writes", "checkpoints", "ends", "kills", "restores"], 0)
    others = {}
    start = time.monotonic()
    with Hearth(data=data, log=tmp_path / "log") as server:
        number = 0
        while number == 0 or time.monotonic() < start + MINUTES * 60:
            number += 1
            lists = [one.again(server.port) for one in lists]
            # An end is due each minute, however long the comparison after the last one took.
            end = start + min(number, MINUTES) * 60
            round_of(server, data, lists, chance, number, end, totals, others, tmp_path)
    print(f"{totals}, 0 differences")
    assert totals["writes"] > 0 and totals["restores"] == number
