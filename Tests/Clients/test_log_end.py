"""The end of the log: what is missing or changed after a stop or a kill is refused, never left out in silence."""

import subprocess
import time

import pytest

from hearth_server import BINARY, Hearth

RECORDS = 12


def segments(data):
    return sorted((data / "log").glob("*.log"))


def await_seal(segment):
    """Waits until the log thread, which has answered by now, has said in the log that all of it is durable."""
    deadline = time.monotonic() + 120
    while True:
        with open(segment, "rb") as file:
            used = file.read(1 << 16).rstrip(b"\0")
        # A seal ends with its kind, at byte 44 of 48; the rest of it is zero.
        if used[-1] == 2 and len(used) % 8 == 5:
            return
        assert time.monotonic() < deadline, used[-64:]


def written(data, way):
    """A folder with one value in each record, after an orderly stop or a kill; the newest segment."""
    with Hearth(data=data) as server:
        for n in range(RECORDS):
            assert server.put(f"/k{n}.json?ns=demo", f"value-{n}-" + "x" * 90).status == 200
        if way == "stopped":
            assert server.stop() == 0
        else:
            await_seal(segments(data)[-1])
            server.kill()
    return segments(data)[-1]


def verify(data):
    return subprocess.run(
        [BINARY, "log", "verify", str(data)], capture_output=True, text=True
    )


def assert_refused(data, tmp_path, segment):
    found = verify(data)
    assert found.returncode == 1, found.stdout
    before = {path.name: path.read_bytes() for path in segments(data)}
    with pytest.raises(AssertionError):
        Hearth(data=data, log=tmp_path / "log")
    log = (tmp_path / "log").read_text()
    assert segment.name in log and "hearth log salvage" in log, log
    assert "never acknowledged" not in log + found.stdout
    assert {path.name: path.read_bytes() for path in segments(data)} == before


def assert_all_there(data):
    with Hearth(data=data) as server:
        stored = server.get("/.json?ns=demo").json
        assert stored == {f"k{n}": f"value-{n}-" + "x" * 90 for n in range(RECORDS)}


@pytest.mark.parametrize("way", ["stopped", "killed"])
@pytest.mark.parametrize("cut", ["before the last record", "within the last record", "the seal"])
def test_a_newest_segment_that_was_cut_is_refused(tmp_path, way, cut):
    data = tmp_path / "data"
    segment = written(data, way)
    content = segment.read_bytes()
    # A record begins 48 bytes before its database's name.
    last = content.rindex(b"demo", 0, content.rindex(f"value-{RECORDS - 1}-".encode())) - 48
    used = len(content.rstrip(b"\0")) + 7 & ~7
    at = {"before the last record": last, "within the last record": last + 70, "the seal": used - 48}
    segment.write_bytes(content[: at[cut]])
    assert_refused(data, tmp_path, segment)


@pytest.mark.parametrize("way", ["stopped", "killed"])
def test_a_bit_that_flipped_in_an_acknowledged_record_is_refused(tmp_path, way):
    data = tmp_path / "data"
    segment = written(data, way)
    content = bytearray(segment.read_bytes())
    content[content.rindex(f"value-{RECORDS - 1}-".encode())] ^= 1
    segment.write_bytes(content)
    assert_refused(data, tmp_path, segment)


def test_a_newest_segment_that_is_gone_after_a_stop_is_refused(tmp_path):
    data = tmp_path / "data"
    segment = written(data, "stopped")
    segment.unlink()
    assert_refused(data, tmp_path, segment)


@pytest.mark.parametrize("way", ["stopped", "killed"])
def test_a_folder_that_was_left_alone_is_sound_and_starts(tmp_path, way):
    data = tmp_path / "data"
    written(data, way)
    found = verify(data)
    assert found.returncode == 0, found.stdout
    wanted = "the log was closed in good order" if way == "stopped" else "not closed in good order"
    assert wanted in found.stdout
    assert_all_there(data)
