"""The server tells systemd how it is: a socket of ours stands for the service manager's."""

import os
import signal
import socket
import subprocess
import time

import pytest

from hearth_server import BINARY, ROOT, Hearth
from wire_client import Wire


class Manager:
    """Collects what is sent to NOTIFY_SOCKET, each state as a dictionary."""

    def __init__(self, name):
        self.name = name
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + name[1:] if name.startswith("@") else name)

    def next(self, timeout=120):
        self.socket.settimeout(timeout)
        lines = self.socket.recv(4096).decode().split("\n")
        return dict(line.split("=", 1) for line in lines)

    def until(self, wanted, timeout=120):
        """States up to the first that has the member `wanted`, that one last."""
        deadline = time.monotonic() + timeout
        states = []
        while wanted not in (states[-1] if states else {}):
            states.append(self.next(deadline - time.monotonic()))
        return states

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path, monkeypatch):
    name = str(tmp_path / "notify") if request.param == "path" else f"@hearth-test-{os.getpid()}"
    with Manager(name) as manager:
        monkeypatch.setenv("NOTIFY_SOCKET", name)
        for variable in ("WATCHDOG_USEC", "WATCHDOG_PID"):
            monkeypatch.delenv(variable, raising=False)
        yield manager


def test_the_states_of_a_life_come_in_order(manager, tmp_path):
    with Hearth(data=tmp_path / "data", log=tmp_path / "log", dev=False) as server:
        ready = manager.until("READY")[-1]
        assert ready == {
            "READY": "1",
            "STATUS": f"Serving http://127.0.0.1:{server.port}, production",
        }
        # "Ready" is what a connection finds.
        assert server.get("/.health/ready").status == 200
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        server.process.send_signal(signal.SIGHUP)
        reloading = manager.next()
        assert reloading["RELOADING"] == "1"
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        assert before <= int(reloading["MONOTONIC_USEC"]) <= after
        assert manager.next()["READY"] == "1"
        assert server.stop() == 0
        stopping = manager.next()
        assert stopping["STOPPING"] == "1"
        assert int(stopping["EXTEND_TIMEOUT_USEC"]) >= 10_000_000


def test_a_second_way_out_of_a_life_is_not_ready_again(manager, tmp_path):
    with Hearth() as server:
        manager.until("READY")
        assert server.stop() == 0
        left = manager.until("STOPPING")
        assert all("READY" not in state for state in left)


def test_a_long_recovery_says_that_it_goes_on(manager, tmp_path):
    data = tmp_path / "data"
    with Hearth(data=data) as server:
        manager.until("READY")
        with Wire(server.port, ns="default") as wire:
            for number in range(1500):
                last = wire.send("p", p=f"/n{number}", d=number)
            assert wire.reply(last)[0]["s"] == "ok"
        server.kill()
    with Hearth(data=data) as server:
        states = manager.until("READY")
        going_on = [state for state in states if state.get("STATUS") == "Reading the log"]
        assert going_on
        assert all(int(state["EXTEND_TIMEOUT_USEC"]) == 60_000_000 for state in going_on)
        assert server.get("/n1499.json").json == 1499


def test_the_loop_says_that_it_turns_and_a_stopped_one_does_not(manager, monkeypatch):
    monkeypatch.setenv("WATCHDOG_USEC", "400000")
    begin = time.monotonic()
    with Hearth() as server:
        manager.until("READY")
        beats = 0
        while beats < 10:
            beats += "WATCHDOG" in manager.next()
        # Ten beats, the first at once, are nine halves of 400 ms.
        assert time.monotonic() - begin >= 1.5
        server.process.send_signal(signal.SIGSTOP)
        # What was sent before it stood still.
        with pytest.raises(socket.timeout):
            for _ in range(5):
                manager.next(timeout=1)
        server.process.send_signal(signal.SIGCONT)
        assert manager.until("WATCHDOG")


def test_the_watchdog_of_another_process_is_none_of_ours(manager, monkeypatch):
    monkeypatch.setenv("WATCHDOG_USEC", "100000")
    monkeypatch.setenv("WATCHDOG_PID", "1")
    with Hearth() as server:
        manager.until("READY")
        # Several beats would have come in the time of these.
        with pytest.raises(socket.timeout):
            manager.next(timeout=1)
        server.stop()


def test_a_manager_that_is_gone_stops_no_server(tmp_path, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    monkeypatch.setenv("WATCHDOG_USEC", "100000")
    with Hearth() as server:
        assert server.get("/.health/ready").status == 200
        assert server.stop() == 0


def test_neither_the_server_nor_the_command_of_exec_speaks_to_the_manager(manager, monkeypatch):
    monkeypatch.setenv("WATCHDOG_USEC", "100000")
    script = (
        "import os, sys; sys.exit(any(name.startswith(('NOTIFY', 'WATCHDOG', 'LISTEN_')) "
        "for name in os.environ))"
    )
    done = subprocess.run(
        [BINARY, "exec", "--", "python3", "-c", script], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    with pytest.raises(socket.timeout):
        manager.next(timeout=0.2)


@pytest.fixture
def unit(tmp_path):
    """The unit file of `make install`, with the binary of this run."""
    text = (ROOT / "docs" / "hearth.service").read_text()
    assert "/usr/local/bin/hearth" in text
    # Whether the manual page is installed is another question.
    lines = [line for line in text.splitlines() if not line.startswith("Documentation=")]
    path = tmp_path / "hearth.service"
    path.write_text("\n".join(lines).replace("/usr/local/bin/hearth", BINARY) + "\n")
    return path


def analyze(*arguments):
    return subprocess.run(
        ["systemd-analyze", *map(str, arguments)], capture_output=True, text=True, timeout=120
    )


def test_the_unit_has_no_fault(unit):
    done = analyze("verify", "--man=no", unit)
    assert done.returncode == 0
    assert "hearth" not in done.stderr, done.stderr
    # The check does find faults.
    unit.write_text(unit.read_text().replace("WatchdogSec=30", "WatchdogSec=often"))
    assert "hearth.service" in analyze("verify", "--man=no", unit).stderr


def test_the_unit_lets_the_server_do_little(unit):
    # In tenths: 1.5 of 10.
    done = analyze("security", "--offline=true", "--threshold=15", unit)
    assert done.returncode == 0, done.stdout[-400:]


def test_the_command_of_the_unit_is_one_that_serves(unit, tmp_path):
    (line,) = [l for l in unit.read_text().splitlines() if l.startswith("ExecStart=")]
    (tmp_path / "hearth.json").write_text('{"port": 0}')
    words = [
        word.replace("/etc/hearth", str(tmp_path)).replace("${STATE_DIRECTORY}", str(tmp_path))
        for word in line.removeprefix("ExecStart=").split()
    ]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tmp_path)
    try:
        assert process.stdout.readline().startswith(b"hearth ready http://127.0.0.1:")
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=120) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
