"""Each statement of the REST API as a curl command and its answer; `rest_table.py` explains the table."""

import shlex
import subprocess

import pytest

from hearth_server import Hearth
from rest_bench import Bench, Stream
from rest_table import FOLDER, groups

TABLE = [(path.stem, group) for path in sorted(FOLDER.glob("*.txt")) for group in groups(path)]


@pytest.fixture(scope="module", autouse=True)
def quiet_stream():
    """A stream of a place where nothing happens, opened before all rows and looked at after them."""
    with Hearth() as server:
        command = f"curl -sS -N -H 'Accept: text/event-stream' {server.address}/quiet.json"
        stream = Stream(subprocess.Popen(shlex.split(command), stdout=subprocess.PIPE))
        yield stream
        stream.end()


@pytest.mark.parametrize("group", [pytest.param(group, id=f"{name}: {group}") for name, group in TABLE])
def test_the_api_keeps_its_word(group, tmp_path):
    """All rows of a group, on one server; those that do not hold are listed together."""
    faults = []
    bench = Bench(group, tmp_path)
    try:
        for row in group.rows:
            try:
                bench.run(row)
            except AssertionError as error:
                faults.append(f"# {row.title}\n{error}")
    finally:
        bench.close()
    assert not faults, "\n".join(faults)


def test_no_two_rows_say_the_same():
    titles = [f"{name}: {row.title}" for name, group in TABLE for row in group.rows]
    assert len(set(titles)) == len(titles)


def test_a_stream_where_nothing_happens_is_kept_alive(quiet_stream):
    assert quiet_stream.next() == 'event: put\ndata: {"path":"/","data":null}'
    assert quiet_stream.next(is_quiet=True) == "event: keep-alive\ndata: null"
